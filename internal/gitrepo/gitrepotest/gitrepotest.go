// Package gitrepotest makes git repositories for tests. Its one rule: they depend on no configuration
// of the user or the machine.
package gitrepotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/command"
)

// File is the name of the tracked file that every commit changes.
const File = "file"

// Repository is a repository of a test.
type Repository struct {
	t       testing.TB
	folder  string
	commits int
}

// New makes an empty repository in a folder. The test is skipped if git is missing.
func New(t testing.TB, folder string) *Repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not in PATH")
	}
	r := &Repository{t: t, folder: folder}
	r.Git("init", "--quiet", "--initial-branch=main")
	return r
}

// Commit makes a commit, a minute after the one before, and returns its hash.
func (r *Repository) Commit(subject string) string {
	r.t.Helper()
	r.commits++
	if err := os.WriteFile(filepath.Join(r.folder, File), []byte(fmt.Sprintln(r.commits)), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.Git("add", File)
	r.Git("commit", "--quiet", "--message="+subject)
	return strings.TrimSpace(r.Git("rev-parse", "HEAD"))
}

// Git runs git in the repository and returns its output.
func (r *Repository) Git(args ...string) string {
	r.t.Helper()
	run := command.New(r.t.Context(), "git", args...)
	run.Dir = r.folder
	date := fmt.Sprintf("2026-01-02T03:%02d:00Z", r.commits)
	run.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com", "GIT_COMMITTER_DATE="+date)
	out, err := run.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
