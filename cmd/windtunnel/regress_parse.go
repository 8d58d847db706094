package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/sim/scenario"
)

// sideUsage describes the arguments BASE and HEAD of regress.
const sideUsage = "bundled, a git revision, or . (the working tree), with settings: ,template=FILE|DIR[@REVISION],lua=DIR[@REVISION],nginx=PATH,flag.NAME=VALUE,config.KEY=VALUE; settings alone mean bundled with settings"

// layouts are where repositories have their template and Lua code: ours, and ingress-nginx's.
var layouts = []struct{ template, lua string }{
	{"controller/render/templates", "lua"},
	{"rootfs/etc/nginx/template/nginx.tmpl", "rootfs/etc/nginx/lua"},
}

// parseSide parses an argument of regress. Files of git revisions are written below a folder.
func parseSide(ctx context.Context, text, folder string) (scenario.Subject, error) {
	what, settings, _ := strings.Cut(text, ",")
	var parts []string
	if settings != "" {
		parts = strings.Split(settings, ",")
	}
	var s scenario.Subject
	var err error
	switch {
	case what == "":
		return s, fmt.Errorf("it is empty; write %s", sideUsage)
	case what == scenario.Bundled:
	case what == ".":
		s, err = sideOfWorkingTree(ctx)
	case isSetting(what):
		parts = append([]string{what}, parts...)
	case isRevision(ctx, what):
		s, err = sideOfRevision(ctx, what, folder)
	default:
		return s, notASide(what)
	}
	s.Name, s.Controller = text, scenario.Bundled
	for _, part := range parts {
		key, value, found := strings.Cut(part, "=")
		if !found {
			return s, fmt.Errorf("%q is not KEY=VALUE", part)
		}
		if key == "template" || key == "lua" {
			value, err = checkedOut(ctx, value, filepath.Join(folder, key))
		}
		if err == nil {
			err = set(&s, key, value)
		}
		if err != nil {
			return s, err
		}
	}
	return s, err
}

// isSetting reports whether a text is a setting rather than the name of an adapter with a path.
func isSetting(text string) bool {
	key, _, found := strings.Cut(text, "=")
	kind, _, _ := strings.Cut(key, ".")
	return found && (key == "template" || key == "lua" || key == "nginx" || key == "name" || kind == "flag" || kind == "config")
}

// notASide explains why a text is no side. Other controllers than ours are known to other commands.
func notASide(text string) error {
	if s, err := parseController(text, false); err == nil && s.Controller != "" {
		return fmt.Errorf("%s is another controller; regress renders with the bundled one only. To compare the behaviour of controllers, use windtunnel case diff or windtunnel ab", text)
	}
	return fmt.Errorf("%s is not a git revision of this repository; write %s", text, sideUsage)
}

// git runs git in the present folder and returns its output.
func git(ctx context.Context, args ...string) (string, error) {
	run := command.New(ctx, "git", args...)
	var out, stderr bytes.Buffer
	run.Stdout, run.Stderr = &out, &stderr
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out.String(), nil
}

func isRevision(ctx context.Context, text string) bool {
	_, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", text+"^{commit}")
	return err == nil
}

// topLevel returns the root of the repository around the present folder.
func topLevel(ctx context.Context) (string, error) {
	top, err := git(ctx, "rev-parse", "--show-toplevel")
	return strings.TrimSpace(top), err
}

func sideOfWorkingTree(ctx context.Context) (s scenario.Subject, err error) {
	top, err := topLevel(ctx)
	if err != nil {
		return s, err
	}
	for _, l := range layouts {
		if _, err := os.Stat(filepath.Join(top, l.template)); err == nil {
			s.Template, s.Lua = filepath.Join(top, l.template), filepath.Join(top, l.lua)
			return s, nil
		}
	}
	return s, fmt.Errorf("%s has no template at %s or %s; name it: template=PATH,lua=PATH", top, layouts[0].template, layouts[1].template)
}

func sideOfRevision(ctx context.Context, revision, folder string) (s scenario.Subject, err error) {
	top, err := topLevel(ctx)
	if err != nil {
		return s, err
	}
	for _, l := range layouts {
		if _, err := git(ctx, "-C", top, "cat-file", "-e", revision+":"+l.template); err != nil {
			continue
		}
		if s.Template, err = archived(ctx, top, revision, l.template, filepath.Join(folder, "template")); err != nil {
			return s, err
		}
		s.Lua, err = archived(ctx, top, revision, l.lua, filepath.Join(folder, "lua"))
		return s, err
	}
	return s, fmt.Errorf("revision %s has no template at %s or %s; name it: template=PATH@%[1]s,lua=PATH@%[1]s", revision, layouts[0].template, layouts[1].template)
}

// checkedOut returns the path of PATH or PATH@REVISION. A file whose own name has an @ is itself.
func checkedOut(ctx context.Context, value, folder string) (string, error) {
	at := strings.LastIndexByte(value, '@')
	if _, err := os.Stat(value); at < 0 || err == nil {
		return value, nil
	}
	path, revision := value[:at], value[at+1:]
	top, err := topLevel(ctx)
	if err != nil {
		return "", err
	}
	if !isRevision(ctx, revision) {
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

// archived writes a path of a revision below a folder and returns where it is now.
func archived(ctx context.Context, top, revision, path, folder string) (string, error) {
	archive, err := git(ctx, "-C", top, "archive", "--format=tar", revision, "--", path)
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
