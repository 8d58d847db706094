// Package definitions reads the CustomResourceDefinitions that an adapter names, from files or from Go
// modules. It stands between adapters, which say what a controller needs, and drivers, which create it.
// Its one rule: a module is downloaded by Go, which checks its sum and keeps it.
package definitions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/manifest"
)

// kind is the kind of the objects that Read returns.
const kind = "CustomResourceDefinition"

// Read returns the definitions of all files, in their order. The error names the definitions that
// cannot be read, and the reason.
func Read(ctx context.Context, all []adapter.CRDs) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, one := range all {
		objects, err := read(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("read the custom resource definitions of %s: %w", cmp.Or(one.Module, one.Path), err)
		}
		found = append(found, objects...)
	}
	return found, nil
}

func read(ctx context.Context, from adapter.CRDs) ([]*unstructured.Unstructured, error) {
	path := from.Path
	if from.Module != "" {
		folder, err := Folder(ctx, from.Module)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(folder, path)
	}
	manifests, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	for _, m := range manifests {
		if m.Object.GetKind() == kind {
			found = append(found, m.Object)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has none", path)
	}
	return found, nil
}

// Folder returns the folder of a Go module, written as MODULE@VERSION, in Go's module cache. It downloads
// the module if it is not there.
func Folder(ctx context.Context, module string) (string, error) {
	download := command.New(ctx, "go", "mod", "download", "-json", module)
	download.Dir = os.TempDir() // the module of the working directory does not matter
	out, err := download.Output()
	var got struct{ Dir, Error string }
	if decoding := json.Unmarshal(out, &got); decoding == nil && got.Error != "" {
		return "", errors.New(strings.TrimSpace(got.Error))
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w: install Go, which downloads modules, or name a file or folder of this machine", err)
	case errors.As(err, &exit):
		return "", fmt.Errorf("go mod download: %w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return "", fmt.Errorf("go mod download: %w", err)
	case got.Dir == "":
		return "", errors.New("go mod download names no folder")
	}
	return got.Dir, nil
}
