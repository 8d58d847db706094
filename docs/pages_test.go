package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/report"
)

// matrixFile is what the last committed live run of the cases found.
const matrixFile = "results/case-matrix/changes.json"

// covered is what the cases and their last live run say about annotations, ConfigMap keys and flags.
type covered struct {
	cases  map[string][]*behave.Case // by what they cover: annotation/rewrite-target
	named  map[string]*behave.Case   // by name
	shown  map[string][]*behave.Case // by what they cover, with its suffix
	matrix map[string]report.Change
}

func readCovered(t *testing.T) covered {
	t.Helper()
	all, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var readOnce = sync.OnceValues(func() (covered, error) {
	all := covered{
		cases: map[string][]*behave.Case{}, named: map[string]*behave.Case{}, shown: map[string][]*behave.Case{},
		matrix: map[string]report.Change{},
	}
	files, err := filepath.Glob("../cases/*/*.yaml")
	if err != nil {
		return all, err
	}
	for _, file := range files {
		c, err := behave.Load(file, behave.Known{})
		if err != nil {
			return all, err
		}
		all.named[c.Name] = c
		for _, name := range c.Covers {
			all.shown[name] = append(all.shown[name], c)
		}
		for _, name := range c.Settings() {
			all.cases[name] = append(all.cases[name], c)
		}
	}
	text, err := os.ReadFile(matrixFile)
	if err != nil {
		return all, err
	}
	var matrix report.Matrix
	if err := json.Unmarshal(text, &matrix); err != nil {
		return all, fmt.Errorf("%s: %w", matrixFile, err)
	}
	for _, change := range matrix.Changes {
		all.matrix[change.Name] = change
	}
	return all, nil
})

// how says how live changes of these took effect, as the column change does.
func (c covered) how(names ...string) string {
	var sum report.Change
	for _, name := range names {
		found := c.matrix[name]
		sum.Cases, sum.Reload, sum.Dynamic = sum.Cases+found.Cases, sum.Reload+found.Reload, sum.Dynamic+found.Dynamic
	}
	switch {
	case sum.How() != "":
		return sum.How()
	case sum.Cases > 0:
		return "not shown"
	}
	return ""
}

// links leads to the cases of a name and its aliases.
func (c covered) links(names ...string) string {
	var all []string
	for i, name := range names {
		if len(c.cases[name]) == 0 {
			continue
		}
		text := "cases"
		if i > 0 {
			text = "alias"
		}
		all = append(all, fmt.Sprintf("[%s](covered.md#%s)", text, anchor(name)))
	}
	return strings.Join(all, ", ")
}

// badValues leads to the cases with an invalid value of a setting.
func (c covered) badValues(name string) string {
	var all []string
	for _, c := range c.shown[name+behave.BadSuffix] {
		all = append(all, fmt.Sprintf("[%s](%s)", strings.TrimPrefix(path.Base(c.Name), "config-"), filepath.ToSlash(c.File)))
	}
	return strings.Join(all, ", ")
}

// aspect is what a case shows of a setting, and the suffix of covers that says so.
type aspect struct{ suffix, name string }

var shownAspects = []aspect{
	{"", "effect"}, {behave.DefaultSuffix, "default"}, {behave.EdgeSuffix, "edge values"}, {behave.BadSuffix, "invalid values"}, {behave.ScopeSuffix, "scope"},
}

// counts returns a table of the settings of a kind: how many cases show each aspect.
func (c covered) counts(kind string) string {
	var table strings.Builder
	fmt.Fprintf(&table, "\n| %s |", kind)
	for _, a := range shownAspects {
		fmt.Fprintf(&table, " %s |", a.name)
	}
	table.WriteString("\n|---|" + strings.Repeat("---:|", len(shownAspects)) + "\n")
	for _, setting := range slices.Sorted(maps.Keys(c.cases)) {
		name, ok := strings.CutPrefix(setting, kind+"/")
		if !ok {
			continue
		}
		fmt.Fprintf(&table, "| [%s](#%s) |", name, anchor(setting))
		for _, a := range shownAspects {
			count := ""
			if cases := c.shown[setting+a.suffix]; len(cases) > 0 {
				count = strconv.Itoa(len(cases))
			}
			fmt.Fprintf(&table, " %s |", count)
		}
		table.WriteString("\n")
	}
	return table.String()
}

// aspects returns what a case shows of a setting besides its effect, in parentheses.
func (c covered) aspects(one *behave.Case, setting string) string {
	var names []string
	for _, a := range shownAspects {
		if a.suffix != "" && slices.Contains(one.Covers, setting+a.suffix) {
			names = append(names, a.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// title and anchor are the heading of annotation/affinity and the fragment that leads to it.
func title(name string) string  { return strings.Replace(name, "/", " ", 1) }
func anchor(name string) string { return strings.Replace(name, "/", "-", 1) }

// legend explains the columns about cases.
const legend = `
The column *change* says what [live changes](cases.md#live-runs) of the cases showed
([result](results/case-matrix/report.md)): setting and removing it reloads nginx (*reload*), does
not (*dynamic*), or depends on the case (*either*). *Not shown*: the cases expect the same answers
with and without it.
`

func TestAnnotationsPage(t *testing.T) {
	all := readCovered(t)
	var page strings.Builder
	page.WriteString(`# Annotations

These are the annotations of ingress-nginx, with the prefix ` + "`" + annotations.DefaultPrefix + "/`" + `
(` + "`--annotations-prefix`" + `). An empty value is ignored. Ignored and rejected values become findings and
Events.

If an annotation has a higher risk than the ConfigMap's ` + "`annotations-risk-level`" + `, the ingress is
rejected: its previous version stays if that [protects no less](quarantine.md); otherwise its
requests get 503. Snippets also need ` + "`allow-snippet-annotations`" + `. If several ingresses set an
annotation with the scope server or backend, the oldest ingress wins. There are two
exceptions: the youngest ingress with a session cookie decides its attributes, and ` + "`app-root`" + ` is
that of the longest path.
` + legend + `
*A test writes this page from the tables in ` + "`controller/annotations`" + `.*
`)
	for _, family := range annotations.Families() {
		fmt.Fprintf(&page, "\n## %s%s\n\n| annotation | what it does | value | scope | risk | if the value is invalid | change | cases |\n|---|---|---|---|---|---|---|---|\n",
			strings.ToUpper(family.Name[:1]), family.Name[1:])
		for _, key := range family.Keys {
			names := append([]string{key.Name}, key.Aliases...)
			var covers []string
			for _, name := range names {
				covers = append(covers, "annotation/"+name)
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %v | %v | %s | %s |\n", strings.Join(names, "`, `"), cell(key.Doc), cell(key.Want.Text), key.Scope, key.Risk, key.Bad, all.how(covers...), all.links(covers...))
		}
	}
	golden.Check(t, "annotations.md", []byte(page.String()))
}

func TestConfigMapPage(t *testing.T) {
	all := readCovered(t)
	var page strings.Builder
	page.WriteString(`# The ConfigMap

The keys are those of ingress-nginx (` + "`--configmap`" + `). Invalid values and unknown keys become findings
and Events. The default replaces an invalid value, except in some lists and ` + "`global-auth-url`" + `
([details](compat.md)). The items of lists are separated by commas. As in ingress-nginx, an empty
switch is false, an empty number is 0, and a number may be hexadecimal (0x10) or, with a zero at its
start, octal.
` + legend + `
*A test writes this page from the table in ` + "`controller/options`" + `.*

| key | type | default | what it does | change | cases | cases of invalid values |
|---|---|---|---|---|---|---|
`)
	for _, key := range options.Keys() {
		shown := ""
		if key.Default != "" {
			shown = "`" + strings.ReplaceAll(key.Default, "|", `\|`) + "`"
		}
		covers := "config/" + key.Name
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s | %s | %s |\n",
			key.Name, key.Type, shown, cell(key.Doc), all.how(covers), all.links(covers), all.badValues(covers))
	}
	golden.Check(t, "configmap.md", []byte(page.String()))
}

// The page lists the cases of everything that is covered.
func TestCoveredPage(t *testing.T) {
	all := readCovered(t)
	var page strings.Builder
	page.WriteString(`# What the cases cover

The [behaviour cases](cases.md) of each [annotation](annotations.md), [ConfigMap key](configmap.md)
and [flag](flags.md), and how a change took effect in their last
[live run](results/case-matrix/report.md). The tables count the cases by [what they
show](cases.md#suffixes-of-covers).

*A test writes this page from the cases.*
`)
	for _, kind := range []string{"annotation", "config", "flag"} {
		page.WriteString(all.counts(kind))
	}
	for _, name := range slices.Sorted(maps.Keys(all.cases)) {
		fmt.Fprintf(&page, "\n## %s\n\n", title(name))
		if how := all.how(name); how != "" {
			fmt.Fprintf(&page, "Changed live in %s: %s.\n\n", plural.Of(all.matrix[name].Cases, "case"), how)
		}
		for _, c := range all.cases[name] {
			fmt.Fprintf(&page, "* [%s](%s)%s: %s\n", c.Name, filepath.ToSlash(c.File), all.aspects(c, name), cell(c.Summary))
		}
	}
	golden.Check(t, "covered.md", []byte(page.String()))
}

// Every change of the committed live run was seen, and is one of an annotation or key that exists.
func TestMatrix(t *testing.T) {
	known := map[string]bool{}
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			for _, name := range append([]string{key.Name}, key.Aliases...) {
				known["annotation/"+name] = true
			}
		}
	}
	for _, key := range options.Keys() {
		known["config/"+key.Name] = true
	}
	for name, change := range readCovered(t).matrix {
		if !known[name] {
			t.Errorf("%s: %s does not exist; run make case-matrix", matrixFile, name)
		}
		if change.Bad > 0 {
			t.Errorf("%s: %s was not seen in %s", matrixFile, name, plural.Of(change.Bad, "case"))
		}
	}
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;").Replace(text)
}
