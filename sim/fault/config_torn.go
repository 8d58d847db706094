package fault

import (
	"os"
	"path/filepath"
	"time"
)

// tearConfig cuts nginx.conf in half, in place. It puts the other half back, unless somebody
// replaced the file or wrote to it in the meantime.
func tearConfig(v Victim, _ time.Duration) (endFunc, error) {
	m, conf, err := configuration(v)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(m.root, conf), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	rest, torn, err := cutInHalf(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() int {
		defer file.Close() // still the old file, even if there is a new one of that name
		now, err := file.Stat()
		if err == nil && now.Size() == torn.Size() && now.ModTime().Equal(torn.ModTime()) {
			_, err = file.WriteAt(rest, torn.Size())
		}
		if err != nil {
			v.Trouble("the second half of nginx.conf was not restored", err.Error())
		}
		return min(1, len(rest)) // an empty file has nothing to cut off
	}, nil
}

// cutInHalf removes the second half of a file. It returns that half and the file's new state.
func cutInHalf(file *os.File) (rest []byte, torn os.FileInfo, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	half := info.Size() / 2
	rest = make([]byte, info.Size()-half)
	if _, err := file.ReadAt(rest, half); err != nil {
		return nil, nil, err
	}
	if err := file.Truncate(half); err != nil {
		return nil, nil, err
	}
	torn, err = file.Stat()
	return rest, torn, err
}
