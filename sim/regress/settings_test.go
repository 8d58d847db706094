package regress_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/regress"
)

// sideWith returns a side that renders the lines of newSide, and those of these lines whose settings it
// has. The key of a line lists all settings that it needs, separated by commas.
func sideWith(settings []string, template string, lines map[string]string) *side {
	s := newSide()
	if slices.Contains(settings, regress.TemplateSetting) {
		s.template = template
	}
	for needs, line := range lines {
		has := func(setting string) bool { return slices.Contains(settings, setting) }
		if all := strings.Split(needs, ","); !slices.ContainsFunc(all, func(setting string) bool { return !has(setting) }) {
			s.lines["all"] += line
		}
	}
	return s
}

func TestSettingsThatExplain(t *testing.T) {
	lines := map[string]string{
		"config.a=1":               "gzip on;",
		"config.b=2,config.c=3":    "etag off;",
		"template":                 "satisfy any;",
		"template,flag.d=4":        "aio on;",
		"config.a=1,config.e=gone": "never on;",
	}
	template := "all: changed\nred: b\nblue: c"
	settings := []string{"config.a=1", "config.b=2", "config.c=3", "flag.d=4"}
	head := sideWith(append([]string{"template"}, settings...), template, lines)
	r := run(t, newSide(), head, func(o *regress.Options) {
		o.Settings = settings
		o.HeadWith = func(some []string) (regress.Side, error) { return sideWith(some, template, lines), nil }
	})
	want := map[string]struct {
		settings []string
		cause    bool
	}{
		"gzip on":     {[]string{"config.a=1"}, false},
		"etag off":    {[]string{"config.b=2", "config.c=3"}, false},
		"satisfy any": {nil, true},
		"aio on":      {[]string{"flag.d=4"}, true},
	}
	if len(r.Kinds) != len(want) {
		t.Fatalf("%d kinds, want %d: %+v", len(r.Kinds), len(want), r.Kinds)
	}
	for _, k := range r.Kinds {
		w, known := want[k.Directive]
		if !known || !slices.Equal(k.Settings, w.settings) || (k.Cause != nil) != w.cause {
			t.Errorf("%s: settings %q, cause %+v, want %+v", k.Directive, k.Settings, k.Cause, w)
		}
	}
}

func TestSettingsThatExplainAFailure(t *testing.T) {
	settings := []string{"config.a=1", "config.b=2"}
	lines := map[string]string{"config.b=2": "bad;"}
	with := func(some []string) *side {
		s := sideWith(some, "", lines)
		s.refused = "bad"
		return s
	}
	r := run(t, newSide(), with(settings), func(o *regress.Options) {
		o.Parts, o.Settings = []regress.Part{regress.TestedPart}, settings
		o.HeadWith = func(some []string) (regress.Side, error) { return with(some), nil }
	})
	if len(r.Failures) != 1 || !slices.Equal(r.Failures[0].Settings, []string{"config.b=2"}) {
		t.Errorf("%+v", r.Failures)
	}
}

func TestOneSettingExplainsEverything(t *testing.T) {
	head := newSide()
	head.lines["red"] = "proxy_buffering on;"
	r := run(t, newSide(), head, func(o *regress.Options) { o.Settings = []string{"config.a=1"} })
	if len(r.Kinds) != 1 || !slices.Equal(r.Kinds[0].Settings, []string{"config.a=1"}) {
		t.Errorf("%+v", r.Kinds)
	}
}

func TestMixedSideThatCannotBeMade(t *testing.T) {
	head := newSide()
	head.lines["red"] = "proxy_buffering on;"
	_, err := regress.Run(t.Context(), regress.Options{
		Base: newSide(), Head: head, Clusters: clusters(), Settings: []string{"config.a=1", "config.b=2"},
		HeadWith: func([]string) (regress.Side, error) { return nil, errors.New("no ports") },
	})
	if err == nil || !strings.Contains(err.Error(), "base with config.") || !strings.Contains(err.Error(), "no ports") {
		t.Error(err)
	}
}
