// Package revision finds the template and the Lua code of a repository in its working tree, or copies
// them from one of its revisions. Its one rule: it only reads the repository, by running git in the
// working directory.
package revision

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"windtunnel.dev/internal/gitrepo"
)

// Code has the paths of a template and its Lua code.
type Code struct{ Template, Lua string }

// layouts are the paths of the template and the Lua code in repositories: ours, and ingress-nginx's.
// Templates are folders, because nginx.tmpl may include other files.
var layouts = []struct{ template, lua string }{
	{"controller/render/templates", "lua"},
	{"rootfs/etc/nginx/template", "rootfs/etc/nginx/lua"},
}

// here is the repository that contains the working directory.
const here gitrepo.Repository = ""

// Is reports whether a text names a commit of the repository.
func Is(ctx context.Context, text string) bool { return here.Has(ctx, text) }

// InRepository reports whether a repository contains the working directory.
func InRepository(ctx context.Context) bool {
	_, err := topLevel(ctx)
	return err == nil
}

// topLevel returns the root of the repository that contains the working directory.
func topLevel(ctx context.Context) (string, error) {
	top, err := here.Run(ctx, "rev-parse", "--show-toplevel")
	return strings.TrimSpace(top), err
}

// WorkingTree returns the code of the working tree.
func WorkingTree(ctx context.Context) (c Code, err error) {
	top, err := topLevel(ctx)
	if err != nil {
		return c, err
	}
	for _, l := range layouts {
		if _, err := os.Stat(filepath.Join(top, l.template)); err == nil {
			c.Template, c.Lua = filepath.Join(top, l.template), filepath.Join(top, l.lua)
			return c, nil
		}
	}
	return c, fmt.Errorf("%s has no template at %s or %s; name it: template=PATH,lua=PATH", top, layouts[0].template, layouts[1].template)
}

// At returns a copy of a revision's code below a folder.
func At(ctx context.Context, revision, folder string) (c Code, err error) {
	top, err := topLevel(ctx)
	if err != nil {
		return c, err
	}
	for _, l := range layouts {
		if _, err := here.Run(ctx, "-C", top, "cat-file", "-e", revision+":"+l.template); err != nil {
			continue
		}
		if c.Template, err = archived(ctx, top, revision, l.template, filepath.Join(folder, "template")); err != nil {
			return c, err
		}
		c.Lua, err = archived(ctx, top, revision, l.lua, filepath.Join(folder, "lua"))
		return c, err
	}
	return c, fmt.Errorf("revision %s has no template at %s or %s; name it: template=PATH@%[1]s,lua=PATH@%[1]s", revision, layouts[0].template, layouts[1].template)
}

// Checkout returns PATH as it is. For PATH@REVISION, it writes a copy below a folder, and returns the path of
// the copy. If a file with the whole name exists, Checkout returns that name.
func Checkout(ctx context.Context, value, folder string) (string, error) {
	at := strings.LastIndexByte(value, '@')
	if _, err := os.Stat(value); at < 0 || err == nil {
		return value, nil
	}
	path, revision := value[:at], value[at+1:]
	top, err := topLevel(ctx)
	if err != nil {
		return "", err
	}
	if !Is(ctx, revision) {
		return "", fmt.Errorf("%s: %s is not a git revision of %s", value, revision, top)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(top, absolute)
	if err != nil || !filepath.IsLocal(relative) {
		return "", fmt.Errorf("%s: %s is not in the repository %s", value, path, top)
	}
	return archived(ctx, top, revision, filepath.ToSlash(relative), folder)
}

// archived writes a path of a revision below a folder and returns the path of the copy.
func archived(ctx context.Context, top, revision, path, folder string) (string, error) {
	archive, err := here.Run(ctx, "-C", top, "archive", "--format=tar", revision, "--", path)
	if err != nil {
		return "", err
	}
	files := tar.NewReader(strings.NewReader(archive))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(folder, filepath.FromSlash(path)), nil
		}
		if err != nil {
			return "", fmt.Errorf("%s@%s: %w", path, revision, err)
		}
		if err := extract(files, header, folder); err != nil {
			return "", fmt.Errorf("%s@%s: %w", path, revision, err)
		}
	}
}

func extract(files io.Reader, header *tar.Header, folder string) error {
	if !filepath.IsLocal(header.Name) {
		return fmt.Errorf("%s leaves the archive", header.Name)
	}
	target := filepath.Join(folder, filepath.FromSlash(header.Name))
	switch header.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(target, 0o755)
	case tar.TypeReg:
		text, err := io.ReadAll(files)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(target), 0o755)
		}
		if err == nil {
			err = os.WriteFile(target, text, 0o644)
		}
		return err
	}
	return nil // links, and the header with the revision
}
