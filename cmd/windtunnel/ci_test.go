package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	repository = "../.."
	workflow   = "examples/ci/churn-benchmark.yaml"
	script     = "examples/ci/churn-benchmark"
)

// No job runs the example workflow, so it could become stale unnoticed. Everything that the
// workflow and its script name must exist.
func TestCIExampleNamesExistingThings(t *testing.T) {
	var file struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Include []struct{ Scenario, Flags string }
				}
			}
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(readText(t, workflow), &file); err != nil {
		t.Fatal(err)
	}
	job, found := file.Jobs["compare"]
	if !found || len(job.Strategy.Matrix.Include) == 0 {
		t.Fatal("no job compare with a matrix of scenarios")
	}
	for _, one := range job.Strategy.Matrix.Include {
		s, err := loadScenario(filepath.Join(repository, one.Scenario))
		if err != nil {
			t.Error(err)
		} else if s.Tier != "pr" {
			t.Errorf("%s has tier %q: pull requests run tier pr only", one.Scenario, s.Tier)
		}
		// --runs=0 stops the command after it has parsed the flags.
		var stderr strings.Builder
		Main(t.Context(), append([]string{"ab", "--runs=0", filepath.Join(repository, one.Scenario)}, strings.Fields(one.Flags)...), io.Discard, &stderr)
		if !strings.Contains(stderr.String(), "want at least one run") {
			t.Errorf("%s: flags %q: %s", one.Scenario, one.Flags, stderr.String())
		}
	}
	called := false
	for _, step := range job.Steps {
		words := strings.Fields(step.Run)
		if len(words) == 0 || !strings.Contains(words[0], "/") {
			continue
		}
		called = called || words[0] == script
		if info, err := os.Stat(filepath.Join(repository, words[0])); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("cannot run %s: %v", words[0], err)
		}
	}
	if !called {
		t.Errorf("no step calls %s", script)
	}
}

// calls matches a windtunnel command and its flags in the script, the workflow and their comments:
// windtunnel ab --budget, "$windtunnel" ab ….
var calls = regexp.MustCompile(`(?m)windtunnel"? ([a-z]+)((?:\\\n|[^\n])*)`)

var longFlag = regexp.MustCompile(`--[a-z][a-z-]*`)

func TestCIExampleNamesExistingFlags(t *testing.T) {
	root := rootCommand()
	seen := 0
	for _, path := range []string{workflow, script} {
		text := string(readText(t, path))
		for _, call := range calls.FindAllStringSubmatch(text, -1) {
			command, _, err := root.Find([]string{call[1]})
			if err != nil {
				t.Errorf("%s: windtunnel %s: %v", path, call[1], err)
				continue
			}
			for _, flag := range longFlag.FindAllString(call[2], -1) {
				seen++
				if command.Flags().Lookup(flag[2:]) == nil {
					t.Errorf("%s: windtunnel %s has no %s", path, call[1], flag)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("found %d flags, but the script alone has five", seen)
	}
}

// TestCIExample makes a few runs, which takes two minutes, so it only runs with
// WINDTUNNEL_CI_EXAMPLE=1.
func TestCIExample(t *testing.T) {
	if os.Getenv("WINDTUNNEL_CI_EXAMPLE") == "" {
		t.Skip("takes two minutes: set WINDTUNNEL_CI_EXAMPLE=1")
	}
	for _, test := range []struct {
		name, runs, flags string
		code              int
		says              []string
	}{
		{"the same twice", "2", "", exitVoid, []string{"### small: too few runs to tell", "| reloads |", "The last run of head"}},
		{"counts only", "1", "--figure=reloads,posts.*", exitOK, []string{"### small: of 3 figures of cost, none is worse", "| reloads |"}},
		{"head reloads", "1", "--head-flag=dynamic-configuration=false --budget=reloads=0", exitFailed, []string{"WORSE"}},
		{"an unknown flag", "1", "--no-such-flag", exitBadInput, []string{"### small: no verdict (exit code 2)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir()
			for dir := out; dir != os.TempDir(); dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o755); err != nil { // nginx's workers run as another user
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), "./"+script, "HEAD", "HEAD", out, "examples/ci/small.yaml")
			command.Dir = repository
			command.Env = append(os.Environ(), "RUNS="+test.runs, "AB_FLAGS="+test.flags)
			said, err := command.CombinedOutput()
			if code := command.ProcessState.ExitCode(); code != test.code {
				t.Fatalf("ended with %v, want exit code %d:\n%s", err, test.code, said)
			}
			summary, err := os.ReadFile(filepath.Join(out, "summary.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.says {
				if !strings.Contains(string(summary), want) {
					t.Errorf("the summary lacks %q:\n%s", want, summary)
				}
			}
			pages, err := filepath.Glob(filepath.Join(out, "small", "head", "*", "report.html"))
			if err != nil || test.code != exitBadInput && strconv.Itoa(len(pages)) != test.runs {
				t.Errorf("got %d pages of head, want one for each of %s runs: %v", len(pages), test.runs, err)
			}
		})
	}
}

func readText(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
