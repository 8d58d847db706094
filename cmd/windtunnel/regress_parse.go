package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel.dev/adapters"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/suggest"
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
			repository := "this repository"
			if !revision.InRepository(ctx) {
				repository = "a repository, because the current folder is in none"
			}
			return s, fmt.Errorf("%s is not a git revision of %s, and no controller: %w; write %s", what, repository, err, sideUsage)
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

// refusedByBoth returns an error for each ConfigMap key that both sides set to values that the bundled
// controller does not use: both then have another value, and a comparison says nothing about the key.
func refusedByBoth(subjects [2]scenario.Subject) error {
	if otherController(subjects) != "" {
		return nil
	}
	reasons := func(s scenario.Subject) map[string]string {
		_, problems := options.Parse(s.Config, options.Defaults(1, false))
		all := map[string]string{}
		for _, problem := range problems {
			all[problem.Key] = problem.Reason
		}
		return all
	}
	base, head := reasons(subjects[0]), reasons(subjects[1])
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(base)) {
		if _, both := head[key]; both {
			values := slices.Compact([]string{subjects[0].Config[key], subjects[1].Config[key]})
			errs = append(errs, fmt.Errorf("config.%s=%s: neither BASE nor HEAD uses this value, so the comparison would say nothing about it: %s (docs/configmap.md)", key, strings.Join(values, " and "), base[key]))
		}
	}
	return errors.Join(errs...)
}

// isSetting reports whether a text is a setting, or looks like a misspelt one, as opposed to an adapter's
// name followed by a path.
func isSetting(text string) bool {
	key, _, found := strings.Cut(text, "=")
	kind, _, _ := strings.Cut(key, ".")
	kinds := []string{"template", "lua", "nginx", "name", "flag", "config"}
	return found && !slices.Contains(adapters.Names(), key) && (slices.Contains(kinds, kind) || suggest.DidYouMean(kind, kinds) != "")
}
