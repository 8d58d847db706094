package readfile

import "io/fs"

// Tree reads all files of a file system, by their paths.
func Tree(files fs.FS) (map[string]string, error) {
	all := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		all[name] = string(text)
		return err
	})
	return all, err
}
