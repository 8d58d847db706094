package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"windtunnel.dev/sim/regress/revision"
	"windtunnel.dev/sim/scenario"
)

// sideUsage describes the arguments BASE and HEAD of regress.
const sideUsage = "bundled, a git revision, or . (the working tree), with settings: ,template=FILE|DIR[@REVISION],lua=DIR[@REVISION],nginx=PATH,flag.NAME=VALUE,config.KEY=VALUE; settings alone mean bundled with settings. Or another controller, as for --subject, whose behaviour alone is compared"

// parseSide parses an argument of regress. Files of git revisions are written below a folder.
func parseSide(ctx context.Context, text, folder string) (scenario.Subject, error) {
	what, settings, _ := strings.Cut(text, ",")
	var parts []string
	if settings != "" {
		parts = strings.Split(settings, ",")
	}
	var s scenario.Subject
	var code revision.Code
	var err error
	switch {
	case what == "":
		return s, fmt.Errorf("it is empty; write %s", sideUsage)
	case what == scenario.Bundled:
	case what == ".":
		code, err = revision.WorkingTree(ctx)
	case isSetting(what):
		parts = append([]string{what}, parts...)
	case revision.Is(ctx, what):
		code, err = revision.At(ctx, what, folder)
	default:
		if s, err = parseController(what, false); err != nil {
			return s, fmt.Errorf("%s is not a git revision of this repository, and no controller: %w; write %s", what, err, sideUsage)
		}
	}
	if err != nil {
		return s, err
	}
	s.Name, s.Controller, s.Template, s.Lua = text, cmp.Or(s.Controller, scenario.Bundled), code.Template, code.Lua
	for _, part := range parts {
		key, value, found := strings.Cut(part, "=")
		if !found {
			return s, fmt.Errorf("%q is not KEY=VALUE", part)
		}
		if key == "template" || key == "lua" {
			value, err = revision.Checkout(ctx, value, filepath.Join(folder, key))
		}
		if err == nil {
			err = set(&s, key, value)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// isSetting reports whether a text is a setting, as opposed to an adapter's name followed by a
// path.
func isSetting(text string) bool {
	key, _, found := strings.Cut(text, "=")
	kind, _, _ := strings.Cut(key, ".")
	return found && (key == "template" || key == "lua" || key == "nginx" || key == "name" || kind == "flag" || kind == "config")
}
