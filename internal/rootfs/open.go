package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/moby/go-archive"

	"windtunnel.dev/internal/engine"
)

// save writes an image of the machine's engine to a file.
func save(ctx context.Context, name, path string) error {
	provider, err := engine.Open(ctx)
	if err != nil {
		return fmt.Errorf("image %s: %w; an image without an engine is the path of a file: docker save writes one", name, err)
	}
	defer provider.Close()
	if _, err := engine.Has(ctx, provider.Client(), name); err != nil {
		return err
	}
	content, err := provider.Client().ImageSave(ctx, []string{name})
	if err != nil {
		return fmt.Errorf("save image %s: %w", name, err)
	}
	defer content.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// open opens the image in a file. Files of docker save have a manifest.json; others are archives of OCI
// layouts, which are first unpacked into scratch.
func open(path, scratch string) (v1.Image, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("it is a folder: name a file that docker save has written")
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(path) })
	switch {
	case err != nil:
		return openLayout(path, scratch)
	case len(manifest) != 1:
		return nil, fmt.Errorf("the file has %d images: save one of them", len(manifest))
	}
	return tarball.ImageFromPath(path, nil)
}

// openLayout opens the image in an archive of an OCI layout; of several images, the one for this machine.
func openLayout(path, scratch string) (v1.Image, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	if err := archive.Untar(file, scratch, &archive.TarOptions{NoLchown: true}); err != nil {
		return nil, fmt.Errorf("it is no image: name a file that docker save has written (%w)", err)
	}
	index, err := layout.ImageIndexFromPath(scratch)
	if err != nil {
		return nil, errors.New("it is no image: the archive has neither a manifest.json nor an index.json; name a file that docker save has written, not docker export")
	}
	images, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
	if err != nil {
		return nil, err
	}
	if len(images) == 1 {
		return images[0], nil // if it is for another machine, the error says so
	}
	here := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	if images, err = partial.FindImages(index, match.Platforms(here)); err != nil {
		return nil, err
	}
	if len(images) != 1 {
		return nil, fmt.Errorf("the file has %d images for %s: save one", len(images), here)
	}
	return images[0], nil
}

// reader returns a file as a reader; nil if the file is nil.
func reader(file *os.File) io.Reader {
	if file == nil {
		return nil
	}
	return file
}
