package windtunnel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinks checks that every relative link in a tracked Markdown file leads to a file, and to a
// heading if it has a fragment.
func TestLinks(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z", "*.md").Output()
	if err != nil {
		t.Skip("needs a git checkout: ", err)
	}
	anchorsOf := make(map[string]map[string]bool)
	for _, page := range strings.Split(strings.Trim(string(list), "\x00"), "\x00") {
		for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			path, fragment, _ := strings.Cut(match[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link %s: %v", page, match[1], err)
				continue
			}
			if fragment == "" {
				continue
			}
			if anchorsOf[target] == nil {
				anchorsOf[target] = anchors(read(t, target))
			}
			if !anchorsOf[target][fragment] {
				t.Errorf("%s: link %s: %s has no such heading", page, match[1], target)
			}
		}
	}
}

// anchors returns the anchors of a page's headings, as GitHub forms them.
func anchors(page string) map[string]bool {
	all := make(map[string]bool)
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		all[strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	return all
}

// TestWorkflow checks that the steps of the workflow call scripts and make targets that exist, and
// that every job has a timeout.
func TestWorkflow(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			TimeoutMinutes int `json:"timeout-minutes"`
			Steps          []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/workflows/ci.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	makefile := read(t, "Makefile")
	called := map[string]bool{}
	for name, job := range workflow.Jobs {
		if job.TimeoutMinutes == 0 {
			t.Errorf("job %s has no timeout", name)
		}
		for _, step := range job.Steps {
			words := strings.Fields(step.Run)
			for i, word := range words {
				if word == "make" && i+1 < len(words) {
					called[words[i+1]] = true
					if !strings.Contains(makefile, "\n"+words[i+1]+": ") {
						t.Errorf("job %s: the Makefile has no target %s", name, words[i+1])
					}
				}
			}
			if len(words) > 0 && words[0] == ".ci/run" {
				called[words[0]] = true
			}
		}
	}
	for _, want := range []string{"check", ".ci/run", "e2e"} {
		if !called[want] {
			t.Errorf("no job calls %s", want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
