package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/gitrepo/gitrepotest"
)

// measuring is a stand-in for the harness that needs no nginx: the environment says how a run ends.
const measuring = `#!/bin/sh -e
case "$1" in
doctor) ;;
run)
  n=$(cat "$COUNTER" 2>/dev/null || echo 0)
  echo $((n + 1)) >"$COUNTER"
  mkdir -p "$3"
  valid=true
  [ "$VOID" != yes ] || valid=false
  printf '{"schema": "windtunnel.dev/result/v1", "run": {"scenario": "small", "seed": 1, "start": "2026-01-02T03:%02d:00Z"}, "subjects": [{"name": "only", "valid": %s, "reloads": %s}], "outcomes": []}' $n $valid "$RELOADS" >"$3/result.json"
  [ "$VOID" != yes ] || exit 3 ;;
*) exec "$HARNESS" "$@" ;;
esac
`

// project is a checkout whose origin keeps a history, on a CI system with a stand-in for the harness.
type project struct {
	*testing.T
	*gitrepotest.Repository
	folder, work, scripts string
}

func newProject(t *testing.T) project {
	t.Helper()
	work := t.TempDir()
	scripts, err := filepath.Abs(filepath.Join(repository, "examples/ci"))
	if err != nil {
		t.Fatal(err)
	}
	p := project{T: t, folder: filepath.Join(work, "checkout"), work: work, scripts: scripts}
	for _, folder := range []string{p.folder, filepath.Join(work, "origin")} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	gitrepotest.New(t, filepath.Join(work, "origin")).Git("config", "core.bare", "true")
	p.Repository = gitrepotest.New(t, p.folder)
	p.Git("remote", "add", "origin", filepath.Join(work, "origin"))
	if err := os.WriteFile(filepath.Join(work, "windtunnel"), []byte(measuring), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a script in the checkout, and checks its exit code.
func (p project) run(want int, env []string, script string, args ...string) (output string) {
	p.Helper()
	command := exec.Command(filepath.Join(p.scripts, script), args...)
	command.Dir = p.folder
	command.Env = append(os.Environ(), "WINDTUNNEL="+filepath.Join(p.work, "windtunnel"), "HARNESS="+built.Command(p.T, "windtunnel"),
		"COUNTER="+filepath.Join(p.work, "counter"), "VOID=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=ci", "GIT_AUTHOR_EMAIL=ci@example.com", "GIT_COMMITTER_NAME=ci", "GIT_COMMITTER_EMAIL=ci@example.com")
	command.Env = append(command.Env, env...)
	out, err := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != want {
		p.Fatalf("%s: exit code %d, want %d: %v\n%s", script, got, want, err, out)
	}
	return string(out)
}

// kept returns the folders of runs on the branch.
func (p project) kept() []string {
	p.Helper()
	p.Git("fetch", "--quiet", "origin", "results")
	return strings.Fields(p.Git("ls-tree", "--name-only", "FETCH_HEAD", "small/"))
}

// The scripts keep the runs of each commit on a branch, fail at the commit that made something worse, and
// comment on its pull request.
func TestHistoryInCI(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for i := range 6 {
		p.Commit(fmt.Sprint("commit ", i))
		want := exitVoid // too few commits
		if i == 5 {
			want = exitOK
		}
		p.run(want, []string{"RELOADS=2", "RUNS=2"}, "history", "results", "out", "small.yaml")
		p.run(exitOK, nil, "keep-history", "results", "out/history")
		if err := os.RemoveAll(filepath.Join(p.folder, "out")); err != nil {
			t.Fatal(err)
		}
	}
	if kept := p.kept(); len(kept) != 12 {
		t.Errorf("the branch has %v, want 12 runs", kept)
	}
	if files := p.Git("ls-tree", "--name-only", "FETCH_HEAD"); files != "small\n" {
		t.Errorf("the branch has %q", files)
	}
	if status := p.Git("status", "--porcelain"); status != "" {
		t.Errorf("the checkout has changed: %s", status)
	}

	worse := p.Commit("reload more often")
	p.run(exitFailed, []string{"RELOADS=9", "RUNS=1", "SETUP=", "REPORTS=https://ci.example.com/7"}, "history", "results", "out", "small.yaml")
	comment, err := os.ReadFile(filepath.Join(p.folder, "out", "comment.md"))
	if err != nil || !strings.HasPrefix(string(comment), "<!-- windtunnel history -->\n### History: 1 figure is worse") || !strings.Contains(string(comment), worse[:10]) {
		t.Errorf("%v: the comment is\n%s", err, comment)
	}
	page, err := os.ReadFile(filepath.Join(p.folder, "out", "site", "index.html"))
	if err != nil || !strings.Contains(string(page), "https://ci.example.com/7") {
		t.Errorf("the page lacks the address of the reports: %v", err)
	}
}

// Jobs that keep runs at the same time lose none.
func TestHistoriesAreMergedInCI(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.Commit("one")
	for _, out := range []string{"a", "b"} { // both begin without a branch
		p.run(exitVoid, []string{"RELOADS=2", "RUNS=1"}, "history", "results", out, "small.yaml")
	}
	for _, out := range []string{"a", "b"} {
		p.run(exitOK, nil, "keep-history", "results", out+"/history")
	}
	if kept := p.kept(); len(kept) != 2 {
		t.Errorf("the branch has %v, want 2 runs", kept)
	}
	if out := p.run(exitOK, nil, "keep-history", "results", "a/history"); !strings.Contains(out, "results has all runs already") {
		t.Errorf("again: %s", out)
	}
}

// A run that stays void is tried three times, and not kept.
func TestVoidRunsInCI(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.Commit("one")
	out := p.run(exitVoid, []string{"RELOADS=2", "VOID=yes", "RUNS=1"}, "history", "results", "out", "small.yaml")
	if !strings.Contains(out, "### History: every run is void") {
		t.Errorf("it says %s", out)
	}
	if tries, err := os.ReadFile(filepath.Join(p.work, "counter")); err != nil || string(tries) != "3\n" {
		t.Errorf("tried %q, %v", tries, err)
	}
}

// A comment that is too long for GitHub ends with whole lines and says so.
func TestLongCommentInCI(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	comments := filepath.Join(p.work, "comments")
	if err := os.Mkdir(comments, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"gh": gh, "long.md": "<!-- long -->\n" + strings.Repeat("| a | row |\n", 10000)} {
		if err := os.WriteFile(filepath.Join(p.work, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	long := filepath.Join(p.work, "long.md")
	github := []string{"COMMENTS=" + comments, "PATH=" + p.work + ":" + os.Getenv("PATH"), "GITHUB_REPOSITORY=o/r", "GH_TOKEN=secret", "PULL_REQUEST=7"}
	p.run(exitOK, github, "comment", long)
	text, err := os.ReadFile(filepath.Join(comments, "42"))
	if err != nil || len(text) > 65000 || !strings.HasSuffix(string(text), "| a | row |\n\nThe rest is in the report, which is too long for a comment.\n") {
		t.Errorf("%v: the comment has %d bytes and ends with %q", err, len(text), text[max(0, len(text)-100):])
	}
	p.run(exitOK, append(github, "PULL_REQUEST="), "comment", long)
	if calls, err := os.ReadFile(filepath.Join(comments, "calls")); err != nil || strings.Count(string(calls), "\n") != 2 {
		t.Errorf("without a pull request, gh is called: %v\n%s", err, calls)
	}
}

// The workflow and the example call scripts and name scenarios and inputs that exist.
func TestHistoryWorkflow(t *testing.T) {
	workflow := string(readText(t, ".github/workflows/history.yml"))
	example := string(readText(t, "examples/ci/history.yaml"))
	seen := 0
	for _, path := range regexp.MustCompile(`(?:examples/ci|hack|scenarios)/[a-z/-]+(?:\.yaml)?`).FindAllString(workflow+example, -1) {
		seen++
		if _, err := os.Stat(filepath.Join(repository, path)); err != nil {
			t.Error(err)
		}
	}
	if seen < 8 {
		t.Errorf("found only %d paths", seen)
	}
	_, with, _ := strings.Cut(example, "    with:\n")
	for _, input := range regexp.MustCompile(`(?m)^ {6}([a-z-]+):`).FindAllStringSubmatch(with, -1) {
		if !strings.Contains(workflow, "\n      "+input[1]+":\n        description:") {
			t.Errorf("the workflow has no input %s", input[1])
		}
	}
	if jobs, timeouts := strings.Count(workflow, "runs-on:"), strings.Count(workflow, "timeout-minutes:"); jobs != timeouts {
		t.Errorf("%d jobs, %d timeouts", jobs, timeouts)
	}
}
