package container

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/testcontainers/testcontainers-go"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver/simulated"
)

// files returns the kubeconfig, the files of the service account if the controller has one, and the files
// of the adapter that are texts or copies of files: the folders of an image exist already.
func (r *runtime) files() ([]testcontainers.ContainerFile, error) {
	files := []testcontainers.ContainerFile{{HostFilePath: r.cluster.Kubeconfig(), ContainerFilePath: simulated.ImageKubeconfig, FileMode: 0o444}}
	if r.setup.HasAccount {
		account, err := os.ReadDir(r.cluster.AccountFolder())
		if err != nil {
			return nil, err
		}
		for _, file := range account {
			files = append(files, testcontainers.ContainerFile{
				HostFilePath: filepath.Join(r.cluster.AccountFolder(), file.Name()), ContainerFilePath: path.Join(adapter.AccountFolder, file.Name()), FileMode: 0o444,
			})
		}
	}
	for _, f := range r.setup.Files {
		made, err := filesOf(f)
		if err != nil {
			return nil, err
		}
		files = append(files, made...)
	}
	return files, nil
}

// filesOf returns the files in a container that a file of an adapter describes.
func filesOf(f adapter.File) ([]testcontainers.ContainerFile, error) {
	if f.Content != nil {
		return []testcontainers.ContainerFile{text(f, *f.Content, 0o644)}, nil
	}
	if f.From == "" {
		return nil, nil
	}
	info, err := os.Stat(f.From)
	if errors.Is(err, fs.ErrNotExist) && f.Optional {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() && len(f.Replace) == 0 {
		return filesIn(f.From, f.Path)
	}
	copied, err := simulated.Copied(f)
	return []testcontainers.ContainerFile{text(f, copied, info.Mode().Perm())}, err
}

// text returns a file with a text. Its permissions are those of the adapter or, by default, mode.
func text(f adapter.File, content string, mode fs.FileMode) testcontainers.ContainerFile {
	return testcontainers.ContainerFile{Reader: strings.NewReader(content), ContainerFilePath: f.Path, FileMode: int64(cmp.Or(f.Mode, uint32(mode)))}
}

// filesIn returns copies of all files in a folder and below it. testcontainers itself would give a copied
// folder its former name, and all its files the same permissions.
func filesIn(folder, to string) (files []testcontainers.ContainerFile, err error) {
	tree := os.DirFS(folder)
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := fs.Stat(tree, name) // of the file that a link leads to
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		files = append(files, testcontainers.ContainerFile{
			HostFilePath: filepath.Join(folder, name), ContainerFilePath: path.Join(to, name), FileMode: int64(info.Mode().Perm()),
		})
		return nil
	})
	return files, err
}
