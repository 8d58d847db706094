package report_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/history/historytest"
	"windtunnel.dev/sim/history/report"
	"windtunnel.dev/sim/history/trend"
)

// storm returns the document of a history of 40 commits: at commit 12 the kernel and the memory change,
// at 20 nginx's CPU time falls, from 28 on it creeps up, and the newest commit has reloads. The last
// commits are measured on two machines and with another subject, and some reports are kept.
func storm(t *testing.T, o report.Options) report.Document {
	t.Helper()
	m := historytest.Machine{Random: rand.New(rand.NewPCG(1, 1)), Spread: 0.03, Events: 0.5}
	runs := m.History(40, func(i int, figures map[string]float64) {
		figures["requests.latency.p50"] /= 10
		if i >= 12 {
			figures["memory.peakRSS"] *= 1.5
		}
		if i >= 20 {
			figures["cpu.nginx"] *= 0.7
		}
		figures["cpu.nginx"] *= 1 + 0.05*float64(min(8, max(0, i-27)))
		if i == 39 {
			figures["reloads"] = 20
		}
	})
	for i := range runs {
		if i >= 12 {
			runs[i].Environment = map[string]string{"kernel": "6.2 & <b>"}
		}
		if i%10 == 9 {
			runs[i].Report = "report.html"
		}
		if i >= 37 {
			runs[i].Figures["reload"] = map[string]float64{"reloads": 30}
		}
		runs[i].Commit.Subject = "make | <i>it</i> faster"
	}
	var all []history.Run
	for i, run := range runs {
		all = append(all, run)
		if i >= 34 {
			run.Setup = map[string]string{"cpu": "b"}
			run.Folder += "-b"
			run.Report = "https://ci.example.com/1"
			all = append(all, run)
		}
	}
	return document(t, all, o)
}

func document(t *testing.T, runs []history.Run, o report.Options) report.Document {
	t.Helper()
	found, err := trend.Of(runs, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report.New(found, o)
}

func text(t *testing.T, write func(io.Writer, report.Document) error, d report.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const web gitrepo.Web = "https://example.com/owner/name"

func TestFormats(t *testing.T) {
	d := storm(t, report.Options{Recent: 20, Web: web})
	for name, write := range map[string]func(io.Writer, report.Document) error{"steps.txt": report.Text, "summary.md": report.Markdown} {
		golden.Check(t, "testdata/"+name, []byte(text(t, write, d)))
	}
	for line := range strings.Lines(text(t, report.Text, d)) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 && !strings.Contains(line, "://") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestOutcomes(t *testing.T) {
	m := historytest.Machine{Random: rand.New(rand.NewPCG(3, 1)), Spread: 0.03, Events: 0.5}
	rise := func(i int, figures map[string]float64) {
		if i >= 20 {
			figures["cpu.nginx"] *= 1.5
		}
	}
	riseAndFall := func(i int, figures map[string]float64) {
		if i >= 15 && i < 25 {
			figures["cpu.nginx"] *= 1.5
		}
	}
	for _, test := range []struct {
		name   string
		n      int
		change func(int, map[string]float64)
		recent int
		want   report.Outcome
		says   string
	}{
		{"flat", 30, nil, 20, report.NoneWorse, "no figure is worse in the newest 20 of 30 commits"},
		{"a step", 30, rise, 20, report.SomeWorse, "1 figure is worse in the newest 20 of 30 commits"},
		{"all are recent", 30, rise, 0, report.SomeWorse, "1 figure is worse in 30 commits"},
		{"an old step", 30, rise, 5, report.NoneWorse, "no figure is worse in the newest 5 of 30 commits"},
		{"a step that has gone", 40, riseAndFall, 0, report.NoneWorse, "it has gone since"},
		{"few commits", 5, nil, 20, report.CannotSay, "too few runs to tell: 5 commits are measured"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := document(t, m.History(test.n, test.change), report.Options{Recent: test.recent})
			if d.Outcome != test.want {
				t.Errorf("%s, want %s: %+v", d.Outcome, test.want, d.Steps)
			}
			if got := text(t, report.Text, d); !strings.Contains(got, test.says) {
				t.Errorf("the text lacks %q:\n%s", test.says, got)
			}
		})
	}
}

// The commits of a step are those of the repository, if it has them.
func TestCommits(t *testing.T) {
	asked := ""
	d := storm(t, report.Options{Web: web, Between: func(from, to string) []gitrepo.Commit {
		asked = from + " " + to
		if to == historytest.Hash(39) {
			return []gitrepo.Commit{{Hash: "feed", Subject: "a commit without a run"}, {Hash: "cafe", Subject: "another one"}}
		}
		return nil
	}})
	if asked == "" {
		t.Fatal("Between was not called")
	}
	for _, s := range d.Steps {
		if s.Figure == "reloads" && (len(s.Commits) != 2 || s.Commits[0].Hash != "feed") {
			t.Errorf("commits of %s: %+v", s.Figure, s.Commits)
		}
		if s.Figure == "cpu.nginx" && (len(s.Commits) == 0 || s.Commits[0].Hash != s.To.Hash || s.Commits[len(s.Commits)-1].Hash == s.From.Hash) {
			t.Errorf("commits of %s: %+v", s.Figure, s.Commits)
		}
	}
	page := text(t, report.HTML, d)
	for _, want := range []string{"a commit without a run", "https://example.com/owner/name/compare/", "https://example.com/owner/name/commit/feed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

var fetches = regexp.MustCompile(`src="|@import|url\(|<link[^>]*href="(?:https?:)?//`)

func TestPage(t *testing.T) {
	page := text(t, report.HTML, storm(t, report.Options{Recent: 20, Web: web}))
	webpagetest.Check(t, []byte(page))
	if found := fetches.FindString(page); found != "" {
		t.Errorf("the page loads an external resource: %s", found)
	}
	for _, hostile := range []string{"<i>it</i>", "<b>"} {
		if strings.Contains(page, hostile) {
			t.Errorf("the page contains %q unescaped", hostile)
		}
	}
	for _, want := range []string{
		`href="runs/storm/9/report.html"`, `href="https://ci.example.com/1"`, "change of environment: kernel from 6.1 to 6.2",
		"WORSE", "Setup B", `<svg class="spark"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// A subject without a figure has an empty cell.
	if !strings.Contains(page, `data-subject="reload" data-setup="A"></td>`) {
		t.Error("the page has no empty cell")
	}
	// The page must load fast on a phone.
	if len(page) > 300<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// Without a page of the repository, the page shows hashes and no links.
func TestPageWithoutRepository(t *testing.T) {
	page := text(t, report.HTML, storm(t, report.Options{}))
	for _, wrong := range []string{"/commit/", "/compare/", `href=""`} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page contains %q", wrong)
		}
	}
	if !strings.Contains(page, "<code>"+historytest.Hash(39)[:10]+"</code>") {
		t.Error("the page lacks hashes")
	}
}

// save writes the page and returns its path.
func save(t *testing.T, page string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
