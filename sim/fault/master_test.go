package fault

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startMaster starts a process with the title of nginx's master: a script, run by sh with the given
// arguments. It waits, unless the last argument is -t: then it runs the commands in test.
func startMaster(t *testing.T, test string, arguments ...string) *exec.Cmd {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	script := filepath.Join(t.TempDir(), "nginx")
	text := `for last; do :; done
if [ "$last" = -t ]; then
` + test + `
exit
fi
read wait`
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	waits, _, err := pipe(t)
	if err != nil {
		t.Fatal(err)
	}
	m := &exec.Cmd{Path: shell, Args: append([]string{"nginx: master process sh", script}, arguments...), Stdin: waits}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Process.Kill(); m.Wait() })
	await(t, "the master to have its name", func() bool { _, err := readMaster(m.Process.Pid); return err == nil })
	return m
}

// revived is a victim whose master may change.
type revived struct {
	patient
	mu sync.Mutex
}

func (r *revived) Master() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.patient.Master()
}

func (r *revived) become(master int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.master = master
}

func (r *revived) Trouble(what, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.patient.Trouble(what, detail)
}

func (r *revived) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.troubles
}

func strikeConfigTests(t *testing.T, v Victim) (heal func()) {
	t.Helper()
	f, _ := Find("config-tests")
	heal, err := f.Strike(t.Context(), v, time.Hour, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(heal)
	return heal
}

// The end of nginx does not count as a refused configuration; the next nginx is tested like the
// first.
func TestConfigTestsOutliveTheMaster(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	first := startMaster(t, "touch "+ran)
	v := &revived{patient: patient{master: first.Process.Pid}}
	strikeConfigTests(t, v)
	await(t, "the first test", func() bool { _, err := os.Stat(ran); return err == nil })
	first.Process.Kill()
	first.Wait()
	v.become(startMaster(t, "echo 'nginx: [emerg] no' >&2; echo 'nginx: test failed' >&2; exit 1").Process.Pid)
	await(t, "a trouble", func() bool { return len(v.told()) > 0 })
	if got := v.told(); len(got) != 1 || got[0] != "nginx -t refuses the configuration in place: nginx: [emerg] no" {
		t.Errorf("troubles %q", got)
	}
}

// A test without a verdict is reported as such.
func TestConfigTestsWithoutVerdict(t *testing.T) {
	v := &revived{patient: patient{master: startMaster(t, "echo no way in >&2; exit 1").Process.Pid}}
	strikeConfigTests(t, v)
	await(t, "a trouble", func() bool { return len(v.told()) > 0 })
	if got := v.told(); len(got) != 1 || got[0] != "nginx -t cannot be run: no way in" {
		t.Errorf("troubles %q", got)
	}
}

// Healing ends the processes that a test has started.
func TestConfigTestsEndWithTheirChildren(t *testing.T) {
	child := filepath.Join(t.TempDir(), "child")
	v := &revived{patient: patient{master: startMaster(t, "sleep 600 & echo $! > "+child+".new; mv "+child+".new "+child+"; wait").Process.Pid}}
	heal := strikeConfigTests(t, v)
	var pid int
	await(t, "the test's child", func() bool {
		text, _ := os.ReadFile(child)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid != 0
	})
	heal()
	await(t, "the child to end", func() bool {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return err != nil || len(line) == 0 // it may be a zombie
	})
	if got := v.told(); len(got) != 0 {
		t.Errorf("troubles %q", got)
	}
}

// Healing restores the second half of nginx.conf, unless somebody has written to or replaced the
// file.
func TestConfigTorn(t *testing.T) {
	const whole, other, short = "events {} http {}", "written over, in place", "events{}"
	for name, test := range map[string]struct {
		meanwhile func(conf string) error
		want      string
	}{
		"left alone": {func(string) error { return nil }, whole},
		"rewritten":  {func(conf string) error { return os.WriteFile(conf, []byte(other), 0o644) }, other},
		"rewritten, as long as the half": {func(conf string) error {
			if err := os.WriteFile(conf, []byte(short), 0o644); err != nil {
				return err
			}
			return os.Chtimes(conf, time.Time{}, time.Now().Add(time.Second)) // later by more than the resolution of file times
		}, short},
		"replaced": {func(conf string) error {
			if err := os.WriteFile(conf+".next", []byte(other), 0o644); err != nil {
				return err
			}
			return os.Rename(conf+".next", conf)
		}, other},
	} {
		conf := filepath.Join(t.TempDir(), "nginx.conf")
		if err := os.WriteFile(conf, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		f, _ := Find("config-torn")
		p := &patient{master: startMaster(t, "", "-c", conf).Process.Pid}
		struck := -1
		heal, err := f.Strike(t.Context(), p, time.Hour, func(n int) { struck = n })
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(conf); string(got) != whole[:len(whole)/2] {
			t.Errorf("%s: torn: %q", name, got)
		}
		if err := test.meanwhile(conf); err != nil {
			t.Fatal(err)
		}
		heal()
		if got, _ := os.ReadFile(conf); string(got) != test.want || len(p.troubles) != 0 || struck != 1 {
			t.Errorf("%s: healed: %q, %q, struck %d files", name, got, p.troubles, struck)
		}
	}
}

// The root of a process that has ended is unknown. It is not the root of this process.
func TestRootOf(t *testing.T) {
	if root, err := rootOf(os.Getpid()); root != "" || err != nil {
		t.Errorf("this process: %q, %v", root, err)
	}
	if root, err := rootOf(dead(t)); err == nil {
		t.Errorf("a process that does not exist: %q", root)
	}
}

// The main thread may be among those that have entered another process's files, and never come back.
// What this process sees must not be mistaken for that.
func TestRootOfAnotherMountNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mount namespaces need root")
	}
	other := exec.Command("sleep", "1000")
	other.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := other.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	ours := exec.Command("sleep", "1000")
	if err := ours.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { ours.Process.Kill(); ours.Wait() }()
	for range 20 { // some of the threads that enter may be the main thread
		if err := withFilesOf(other.Process.Pid, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if root, err := rootOf(other.Process.Pid); err != nil || root == "" {
			t.Fatalf("the root of another mount namespace is %q, %v", root, err)
		}
		if root, err := rootOf(ours.Process.Pid); err != nil || root != "" {
			t.Fatalf("the root of our mount namespace is %q, %v", root, err)
		}
	}
}
