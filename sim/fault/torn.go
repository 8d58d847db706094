package fault

import (
	"os"
	"path/filepath"
	"time"
)

// tear cuts nginx.conf in half, in place, and puts the other half back, unless
// somebody has replaced the file meanwhile or written to it.
func tear(v Victim, _ time.Duration) (over, error) {
	m, conf, err := configuration(v)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(m.root, conf), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	rest, torn, err := cut(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() int {
		defer file.Close() // of the file as it was found: a new one of that name is left alone
		now, err := file.Stat()
		if err == nil && now.Size() == torn.Size() && now.ModTime().Equal(torn.ModTime()) {
			_, err = file.WriteAt(rest, torn.Size())
		}
		if err != nil {
			v.Trouble("half a configuration was not made whole", err.Error())
		}
		return min(1, len(rest)) // of an empty file there is nothing to take
	}, nil
}

// cut takes the second half off a file. It returns what it took and what the file
// is then.
func cut(file *os.File) (rest []byte, torn os.FileInfo, err error) {
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
