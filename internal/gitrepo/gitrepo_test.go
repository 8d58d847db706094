package gitrepo

import (
	"os"
	"path/filepath"
	"testing"

	"windtunnel.dev/internal/gitrepo/gitrepotest"
)

func TestCommits(t *testing.T) {
	folder := t.TempDir()
	repo := gitrepotest.New(t, folder)
	first, second, third := repo.Commit("one"), repo.Commit("two"), repo.Commit("three %H \"x\"")
	r := Repository(folder)

	got, err := r.Commit(t.Context(), "HEAD")
	if err != nil || got.Hash != third || got.Subject != "three %H \"x\"" || got.Time.IsZero() {
		t.Errorf("HEAD is %+v, %v", got, err)
	}
	between, err := r.Between(t.Context(), first, third, 10)
	if err != nil || len(between) != 2 || between[0].Hash != third || between[1].Hash != second {
		t.Errorf("between %+v, %v", between, err)
	}
	if between, err = r.Between(t.Context(), first, third, 1); err != nil || len(between) != 1 {
		t.Errorf("at most one: %+v, %v", between, err)
	}
	if _, err := r.Commit(t.Context(), "--all"); err == nil {
		t.Error("a flag is read as a commit")
	}
	if !r.Has(t.Context(), second[:7]) || r.Has(t.Context(), "nonsense") {
		t.Error("Has: want the second commit, and not nonsense")
	}
}

func TestModified(t *testing.T) {
	folder := t.TempDir()
	repo := gitrepotest.New(t, folder)
	repo.Commit("one")
	for _, test := range []struct {
		file string
		want bool
	}{{"untracked", false}, {gitrepotest.File, true}} {
		if err := os.WriteFile(filepath.Join(folder, test.file), []byte("changed"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Repository(folder).Modified(t.Context()); err != nil || got != test.want {
			t.Errorf("after a change of %s: %v, %v", test.file, got, err)
		}
	}
}

func TestWeb(t *testing.T) {
	for remote, want := range map[string]Web{
		"git@github.com:owner/name.git":               "https://github.com/owner/name",
		"github.com:owner/name":                       "https://github.com/owner/name",
		"ssh://git@example.com:2222/group/sub/x.git":  "https://example.com/group/sub/x",
		"https://user:secret@example.com/owner/name/": "https://example.com/owner/name",
		"http://example.com:8080/owner/name.git":      "https://example.com:8080/owner/name",
		"/srv/git/name.git":                           "",
		"file:///srv/git/name.git":                    "",
		"../name":                                     "",
		"":                                            "",
		"https://example.com":                         "",
		"git@github.com:owner/\"><script>alert(1)":    "https://github.com/owner/%22%3E%3Cscript%3Ealert%281%29",
	} {
		if got := webOf(remote); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
	page := Web("https://example.com/x")
	if page.Commit("a") != "https://example.com/x/commit/a" || page.Compare("a", "b") != "https://example.com/x/compare/a...b" {
		t.Errorf("%s, %s", page.Commit("a"), page.Compare("a", "b"))
	}
	if Web("").Commit("a") != "" || Web("").Compare("a", "b") != "" {
		t.Error("a repository without a page has pages of commits")
	}
	for text, want := range map[string]bool{"https://example.com/x/": true, "javascript:alert(1)": false, "example.com/x": false} {
		if page, ok := ParseWeb(text); ok != want || ok && page != "https://example.com/x" {
			t.Errorf("%s: %q, %v", text, page, ok)
		}
	}
}
