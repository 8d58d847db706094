package probe

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// If nginx belongs to another user, the probe may not see the open files of its workers.
// The test runs itself as an unprivileged user that looks at root's nginx.
func TestConvergenceWithoutRights(t *testing.T) {
	if address := os.Getenv("PROBE_TEST_ADDRESS"); address != "" {
		convergenceWithoutRights(t, address)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to run a part of the test with fewer rights")
	}
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	r.await(w, 0, 2)
	r.end(w)

	unprivileged(t, "PROBE_TEST_ADDRESS="+n.address, "PROBE_TEST_MASTER="+strconv.Itoa(n.master()))
}

// unprivileged runs the test again, as an unprivileged user and with more variables in its environment.
func unprivileged(t *testing.T, environment ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), publicCopy(t), "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The files of a process that ends belong to root for a moment. This is no lack of rights.
func TestEndingProcessIsNotDenied(t *testing.T) {
	if os.Getuid() == 0 {
		unprivileged(t)
		return
	}
	ended := exec.Command("true")
	output, err := ended.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	defer ended.Wait()
	if _, err := io.Copy(io.Discard, output); err != nil { // it ends when the process does, which stays a zombie
		t.Fatal(err)
	}
	if pid, err := holder(1, []int{ended.Process.Pid}); !errors.Is(err, ErrNotOwned) {
		t.Errorf("holder = %d, %v, want ErrNotOwned", pid, err)
	}
}

func convergenceWithoutRights(t *testing.T, address string) {
	r := newRun(t)
	master := func() (int, error) { return strconv.Atoi(os.Getenv("PROBE_TEST_MASTER")) }
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, master)
	r.await(w, 0, 2)
	u := WatchUsage(r.ctx, r.Log, w, nil)
	u.Sample()
	u.Sample()
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: address})
	c.Watch(change(1, nil, "demo/a"))
	if err := c.Await(r.ctx); err == nil || r.ctx.Err() != nil {
		t.Errorf("settled: %v, want an error at once", err)
	}
	if off := c.Effort().Off; off == "" {
		t.Error("the probe has stopped, but the effort does not say why")
	}
	troubles := map[string]int{}
	samples := 0
	for _, e := range r.end(w, u, c) {
		if e.Trouble != nil {
			troubles[e.Trouble.What]++
		}
		if e.Usage != nil {
			samples++
		}
	}
	want := map[string]int{"convergence is not measured": 1, "nginx's proportional memory is not sampled": 1}
	for what, n := range want {
		if troubles[what] != n {
			t.Errorf("troubles %v, want %v", troubles, want)
		}
	}
	if samples == 0 {
		t.Error("no sample, although every user can read memory and CPU time")
	}
}

// publicCopy returns the path of a copy of this test's binary that every user can run.
func publicCopy(t *testing.T) string {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "probe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(folder, "probe.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	return binary
}
