package apply

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

func (f *fixture) wantNoFile(path string) {
	f.Helper()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		f.Errorf("%s exists (%v)", path, err)
	}
}

func TestFilesFollowTheState(t *testing.T) {
	f := newFixture(t)
	a := f.layout.path("/etc/ingress-controller/ssl/a.pem")
	b := f.layout.path("/etc/ingress-controller/ssl/b.pem")
	with := func(answer string, files map[string][]byte) plan.State {
		state := f.state(answer, "[]")
		state.Files = files
		return state
	}
	f.must(f.reach(with("one", map[string][]byte{a: []byte("1")})))
	f.wantFile(a, []byte("1"))
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others can read a key", info, err)
	}
	// Changed content alone causes a reload.
	report := f.must(f.reach(with("one", map[string][]byte{a: []byte("2"), b: []byte("b")})))
	if !report.Reloaded {
		t.Error("no reload although the content of a file changed")
	}
	f.wantFile(a, []byte("2"))
	f.wantFile(b, []byte("b"))

	// A state that nginx rejects leaves the files as they were.
	c := f.layout.path("/etc/ingress-controller/ssl/c.pem")
	bad := with("two", map[string][]byte{a: []byte("3"), c: []byte("c")})
	bad.Conf = bad.Conf.Append([]byte("nonsense;\n"))
	if _, err := f.reach(bad); err == nil {
		t.Fatal("no error")
	}
	f.wantFile(a, []byte("2"))
	f.wantFile(b, []byte("b"))
	f.wantNoFile(c)

	// Files are removed once nginx has accepted a state that does not need them.
	f.must(f.reach(with("two", map[string][]byte{b: []byte("b")})))
	f.wantNoFile(a)
	f.wantFile(b, []byte("b"))
}

// The target does not reread files that it knows, but notices changes by others.
func TestSecretFilesAreRestored(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(f.layout.Passwords(), "x.passwd")
	next := plan.State{Files: map[string][]byte{path: []byte("abc")}}
	for name, damage := range map[string]func() error{
		"nothing": func() error { return nil },
		"removed": func() error { return os.Remove(path) },
		"longer":  func() error { return os.WriteFile(path, []byte("abcd"), 0o600) },
		"same length": func() error {
			return errors.Join(os.WriteFile(path, []byte("xyz"), 0o600), os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
		},
	} {
		if err := errors.Join(f.target.writeSecretFiles(next), damage(), f.target.writeSecretFiles(next)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.wantFile(path, []byte("abc"))
	}
}

// Workers read password files themselves, so they own them from the moment the files exist.
func TestWorkersOwnPasswordFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only an nginx started by root has workers of another user")
	}
	f := newFixture(t)
	path := filepath.Join(f.layout.Passwords(), "x.passwd")
	for text, name := range map[string]string{"": f.target.nginx.User(), "user  daemon daemon;\n": "daemon", "user = of(1);\nuser daemon;\n": "daemon"} {
		if err := f.target.writeSecretFiles(plan.State{Conf: conf.Whole([]byte("daemon off;\n" + text)), Files: map[string][]byte{path: []byte(name)}}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		worker, err := user.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if uid := strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid)); uid != worker.Uid || info.Mode().Perm() != 0o600 {
			t.Errorf("owner %s, mode %v, want %s (%s) alone", uid, info.Mode(), worker.Uid, name)
		}
	}
	err := f.target.writeSecretFiles(plan.State{Conf: conf.Whole([]byte("user no-such-user;\n")), Files: map[string][]byte{path: []byte("x")}})
	if err == nil || !strings.Contains(err.Error(), "no-such-user") {
		t.Errorf("an unknown user: %v", err)
	}
}

// Private keys are sent to Lua and do not appear in errors.
func TestServersArePosted(t *testing.T) {
	f := newFixture(t)
	state := f.state("one", "[]")
	state.Certificates = wire.NewCertificates(map[string]string{"1": "KEY"}, map[string]string{"a": "1"})
	f.must(f.reach(state))
	f.reject.Store(3) // all tries
	next := state
	next.Certificates = wire.NewCertificates(map[string]string{"2": "KEY"}, map[string]string{"b": "2"})
	report, err := f.reach(next)
	if err == nil || strings.Contains(err.Error(), "KEY") || report.Reloaded {
		t.Errorf("a rejected POST: %+v, %v", report, err)
	}
	f.must(f.reach(next))
	want := []string{
		`/configuration/servers {"certificates":{"1":"KEY"},"servers":{"a":"1"}}`,
		`/configuration/servers {"certificates":{"2":"KEY"},"servers":{"a":"-1","b":"2"}}`,
	}
	if got := f.posted[len(f.posted)-2:]; !slices.Equal(got, want) {
		t.Errorf("posted %q, want %q", got, want)
	}
}

// If Lua accepts deltas, only changed certificates are sent, even after a rejected POST.
func TestChangedServersArePosted(t *testing.T) {
	f := newFixture(t)
	state := f.state("one", "[]")
	state.AcceptsDeltas = true
	state.Certificates = wire.NewCertificates(map[string]string{"1": "KEY", "2": "OTHER"}, map[string]string{"a": "1", "b": "2", "c": "2"})
	f.must(f.reach(state))
	f.reject.Store(3) // all tries
	next := state
	next.Certificates = wire.NewCertificates(map[string]string{"1": "RENEWED", "2": "OTHER"}, map[string]string{"a": "1", "b": "2"})
	if _, err := f.reach(next); err == nil {
		t.Error("no error for a rejected POST")
	}
	f.must(f.reach(next))
	want := []string{
		`/configuration/servers {"certificates":{"1":"KEY","2":"OTHER"},"servers":{"a":"1","b":"2","c":"2"}}`,
		`/configuration/servers {"certificates":{"1":"RENEWED"},"servers":{"c":"-1"}}`,
	}
	if got := f.posted[len(f.posted)-2:]; !slices.Equal(got, want) {
		t.Errorf("posted %q, want %q", got, want)
	}
}
