package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	repository = "../.."
	workflow   = "examples/ci/churn-benchmark.yaml"
	script     = "examples/ci/churn-benchmark"
)

// A workflow that nobody runs here goes stale unseen: what it and its script
// name must be there.
func TestCIExampleNamesWhatThereIs(t *testing.T) {
	var file struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Scenario []string }
			}
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(readText(t, workflow), &file); err != nil {
		t.Fatal(err)
	}
	job, found := file.Jobs["compare"]
	if !found || len(job.Strategy.Matrix.Scenario) == 0 {
		t.Fatal("no job compare with a matrix of scenarios")
	}
	for _, path := range job.Strategy.Matrix.Scenario {
		s, err := loadScenario(filepath.Join(repository, path))
		if err != nil {
			t.Error(err)
		} else if s.Tier != "pr" {
			t.Errorf("%s is of tier %q: a pull request waits for those of pr only", path, s.Tier)
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
			t.Errorf("%s is called and cannot be run: %v", words[0], err)
		}
	}
	if !called {
		t.Errorf("no step calls %s", script)
	}
}

// calls are a command of windtunnel and its flags, as the script, the workflow
// and their comments write them: windtunnel ab --budget, "$windtunnel" ab ….
var calls = regexp.MustCompile(`(?m)windtunnel"? ([a-z]+)((?:\\\n|[^\n])*)`)

var longFlag = regexp.MustCompile(`--[a-z][a-z-]*`)

func TestCIExampleNamesFlagsThatThereAre(t *testing.T) {
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
		t.Errorf("%d flags were found, the script alone has five", seen)
	}
}

// TestCIExample makes two runs of each side, which takes about a minute, and so
// only when asked: WINDTUNNEL_CI_EXAMPLE=1.
func TestCIExample(t *testing.T) {
	if os.Getenv("WINDTUNNEL_CI_EXAMPLE") == "" {
		t.Skip("takes about a minute: set WINDTUNNEL_CI_EXAMPLE=1")
	}
	out := t.TempDir()
	for dir := out; dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // for nginx's workers, who are another user
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), script, "HEAD", "HEAD", out, "examples/ci/small.yaml")
	command.Path, command.Dir = filepath.Join("./", script), repository
	command.Env = append(os.Environ(), "RUNS=2")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	summary, err := os.ReadFile(filepath.Join(out, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### small: no figure is worse", "| reloads |", "The last run of head"} {
		if !strings.Contains(string(summary), want) {
			t.Errorf("the summary has no %q:\n%s", want, summary)
		}
	}
	pages, err := filepath.Glob(filepath.Join(out, "small", "*", "*", "report.html"))
	if err != nil || len(pages) != 4 {
		t.Errorf("%d pages, want one for each of four runs: %v", len(pages), err)
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
