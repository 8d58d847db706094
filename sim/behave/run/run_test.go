package run_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/subject"
)

// options returns options for running cases with a real nginx.
func options(t *testing.T, cases ...*behave.Case) run.Options {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	return run.Options{
		Cases:  cases,
		Driver: local.Driver{Bundled: built.Command(t, "nginx-ingress-controller")},
		Subject: subject.Subject{
			Name: "subject", Controller: subject.Bundled,
			Flags: map[string]string{"sync-rate-limit": "20"},
		},
		ConfigMap:     types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"},
		Bundled:       true,
		Dir:           t.TempDir(),
		Installations: 3,
	}
}

func load(t *testing.T, pattern string) (cases []*behave.Case) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		c, err := behave.Load(file, behave.Known{})
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

func hasIPv6(need string) bool {
	_, err := os.Stat("/proc/net/if_inet6")
	return need == "ipv6" && err == nil
}

// The cases in testdata show what the runner can do: logs, reloads, changes, addresses, TLS.
func TestRunnerCases(t *testing.T) {
	t.Parallel()
	o := options(t, load(t, "testdata/cases/run/*.yaml")...)
	o.Has = hasIPv6
	var done []string
	o.Done = func(r behave.Result) { done = append(done, r.Case) }
	results, err := run.Do(t.Context(), o)
	if err != nil {
		t.Error(err)
	}
	for i, r := range results {
		if r.Case != o.Cases[i].Name || !slices.Contains(done, r.Case) {
			t.Errorf("result %d is of %s, want %s; done: %v", i, r.Case, o.Cases[i].Name, done)
		}
		if r.Outcome == behave.Skipped && r.Reason == "there is no ipv6" {
			continue
		}
		if r.Outcome != behave.Passed || r.Took <= 0 {
			t.Errorf("%s %s in %v: %s %v", r.Case, r.Outcome, r.Took, r.Reason, r.Failures)
		}
	}
}

// A case that cannot be served does not void the others of its batch, and a wrong expectation fails
// alone.
func TestOnlyTheCaseAtFaultIsNotPassed(t *testing.T) {
	t.Parallel()
	o := options(t, load(t, "testdata/cases/fault/*.yaml")...)
	o.Has = hasIPv6
	results, err := run.Do(t.Context(), o)
	if err != nil {
		t.Error(err)
	}
	want := map[string]behave.Outcome{
		"fault/fine": behave.Passed, "fault/wrong": behave.Failed,
		"fault/rejected": behave.Void, "fault/bad-flag": behave.Void, "fault/needy": behave.Skipped,
	}
	for _, r := range results {
		if r.Outcome != want[r.Case] {
			t.Errorf("%s %s, want %s: %s %v", r.Case, r.Outcome, want[r.Case], r.Reason, r.Failures)
		}
		if r.Outcome == behave.Void && !strings.Contains(r.Reason, map[string]string{
			"fault/rejected": "pathType", "fault/bad-flag": "no-such-flag",
		}[r.Case]) {
			t.Errorf("%s is void because %s", r.Case, r.Reason)
		}
	}
}

func TestInterruptedRunVoidsTheRest(t *testing.T) {
	t.Parallel()
	o := options(t, load(t, "testdata/cases/run/*.yaml")...)
	ctx, cancel := context.WithCancel(t.Context())
	o.Installations = 1
	o.Done = func(behave.Result) { cancel() }
	o.Has = func(string) bool { return false } // skips a case, which is done at once
	began := time.Now()
	results, err := run.Do(ctx, o)
	if err == nil || time.Since(began) > time.Minute {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	for _, r := range results {
		if r.Outcome != behave.Void && r.Outcome != behave.Skipped {
			t.Errorf("%s %s", r.Case, r.Outcome)
		}
	}
}

// A controller that serves nothing is waited for once, not for each half of each batch of each group.
func TestControllerThatServesNothing(t *testing.T) {
	t.Parallel()
	o := options(t, load(t, "testdata/cases/run/*.yaml")...)
	o.Subject.Flags["lua-dir"] = luaThatFails(t)
	o.Installations, o.Patience = 1, 2*time.Second
	results, err := run.Do(t.Context(), o)
	if err != nil {
		t.Error(err)
	}
	for _, r := range results {
		if r.Outcome == behave.Skipped && r.Reason == "there is no ipv6" {
			continue
		}
		if want := "the controller serves nothing, even without the objects of cases: "; r.Outcome != behave.Void || !strings.HasPrefix(r.Reason, want) {
			t.Errorf("%s %s: %s, want it to be void because %s", r.Case, r.Outcome, r.Reason, want)
		}
	}
	if started, _ := os.ReadDir(o.Dir); len(started) != 1 {
		t.Errorf("%d controllers started", len(started))
	}
}

// luaThatFails returns a folder with Lua code that answers every request with 500.
func luaThatFails(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../lua")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "balancer.lua")
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(code), "function _M.balance()", `function _M.balance() error("broken")`, 1)
	if broken == string(code) {
		t.Fatal("balancer.lua has no function balance")
	}
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
