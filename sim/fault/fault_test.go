package fault

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"windtunnel.dev/internal/signal"
	kubefault "windtunnel.dev/sim/kubeapi/fault"
)

// patient is a victim that records what happens to it.
type patient struct {
	Unable
	injected []string
	healed   int
	workers  []int
	refuses  bool

	controller, port int
	master           int
	late             time.Duration
	troubles         []string
}

func (p *patient) Inject(f kubefault.Fault, _ kubefault.Scope) (func() int, error) {
	if p.refuses {
		return nil, ErrNotHere
	}
	p.injected = append(p.injected, f.Name)
	return func() int { p.healed++; return 7 }, nil
}
func (p *patient) Workers() []int { return p.workers }
func (p *patient) Master() (int, error) {
	if p.master == 0 {
		return 0, errors.New("no master")
	}
	return p.master, nil
}
func (p *patient) Controller() int                        { return p.controller }
func (p *patient) StatusPort() int                        { return p.port }
func (p *patient) Signal(pid int, s syscall.Signal) error { return signal.Send(pid, s) }
func (p *patient) DelayReadiness(by time.Duration) (pods int) {
	p.late = by
	return 5
}
func (p *patient) Trouble(what, detail string) {
	p.troubles = append(p.troubles, what+": "+detail)
}

func TestLastingFaultsHeal(t *testing.T) {
	for _, f := range ofAPI {
		p := &patient{}
		told := make(chan int, 1)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := f.Strike(ctx, p, time.Hour, func(struck int) { told <- struck })
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if len(p.injected) == 0 {
			t.Errorf("%s injects no fault", f.Name)
		}
		cancel() // the end of the round comes before the end of the fault
		if struck := <-told; p.healed != 1 || struck != 7 {
			t.Errorf("%s: healed %d times, want once; struck %d", f.Name, p.healed, struck)
		}
	}
}

func TestUnsupportedFaultIsNotHere(t *testing.T) {
	f, _ := Find("api-restart")
	if _, err := f.Strike(t.Context(), &patient{refuses: true}, time.Second, func(int) { t.Error("healed a fault that never struck") }); !errors.Is(err, ErrNotHere) {
		t.Errorf("got %v", err)
	}
}

// worker-kill kills the oldest worker and no other.
func TestWorkerKill(t *testing.T) {
	var workers []*exec.Cmd
	p := &patient{}
	for range 2 {
		sleeper := exec.Command("sleep", "60")
		if err := sleeper.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { sleeper.Process.Kill(); sleeper.Wait() })
		workers = append(workers, sleeper)
		p.workers = append(p.workers, sleeper.Process.Pid)
	}
	f, _ := Find("worker-kill")
	if _, err := f.Strike(t.Context(), p, 0, func(int) {}); err != nil {
		t.Fatal(err)
	}
	oldest := slices.MinFunc(workers, func(a, b *exec.Cmd) int { return a.Process.Pid - b.Process.Pid })
	oldest.Wait()
	if status := oldest.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("the worker ended with %v", status)
	}
	for _, w := range workers {
		if w != oldest && w.Process.Signal(syscall.Signal(0)) != nil {
			t.Error("the other worker has ended as well")
		}
	}
	p.workers = nil
	if _, err := f.Strike(t.Context(), p, 0, func(int) {}); err == nil || !strings.Contains(err.Error(), "no workers") {
		t.Errorf("without workers: %v", err)
	}
}

// sayer is a process that echoes its input, unless it is stopped.
type sayer struct {
	*exec.Cmd
	in, out *os.File
}

func newSayer(t *testing.T) *sayer {
	t.Helper()
	s := &sayer{Cmd: exec.Command("cat")}
	var err error
	if s.Stdin, s.in, err = pipe(t); err != nil {
		t.Fatal(err)
	}
	if s.out, s.Stdout, err = pipe(t); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	return s
}

func pipe(t *testing.T) (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w, err
}

// says returns nil if the process echoes before patience ends.
func (s *sayer) says() error {
	if _, err := s.in.WriteString("on\n"); err != nil {
		return err
	}
	s.out.SetReadDeadline(time.Now().Add(patience))
	_, err := io.ReadFull(s.out, make([]byte, len("on\n")))
	return err
}

const patience = 30 * time.Second

// await waits until isSo returns true.
func await(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timeout while waiting for ", what)
		}
	}
}

// isStopped reports whether a process is stopped.
func isStopped(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	stat, err := process.Stat()
	return err == nil && stat.State == "T"
}

// dead returns the PID of a process that has ended.
func dead(t *testing.T) int {
	t.Helper()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	return ended.Process.Pid
}

// If one worker has just ended, the others are stopped, and continue afterwards.
func TestWorkersStopped(t *testing.T) {
	worker := newSayer(t)
	f, _ := Find("workers-stopped")
	struck := -1
	heal, err := f.Strike(t.Context(), &patient{workers: []int{worker.Process.Pid, dead(t)}}, time.Hour, func(n int) { struck = n })
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the worker to be stopped", func() bool { return isStopped(worker.Process.Pid) })
	heal()
	if err := worker.says(); err != nil || struck != 1 {
		t.Errorf("after healing: %v; struck %d workers", err, struck)
	}
}

// If not all workers can be stopped, none stays stopped.
func TestStoppingIsAllOrNothing(t *testing.T) {
	worker := newSayer(t)
	f, _ := Find("workers-stopped")
	if _, err := f.Strike(t.Context(), &patient{workers: []int{worker.Process.Pid, 0}}, time.Hour, func(int) {}); err == nil {
		t.Error("process 0 was stopped")
	}
	if err := worker.says(); err != nil {
		t.Error("the other worker does not continue: ", err)
	}
}

func TestNoWorkers(t *testing.T) {
	for _, name := range []string{"worker-kill", "workers-kill", "workers-stopped"} {
		f, _ := Find(name)
		if _, err := f.Strike(t.Context(), &patient{}, time.Hour, func(int) {}); err == nil || !strings.Contains(err.Error(), "no workers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fault that strikes nothing must show, so each fault names what it counts.
func TestFaultsHaveAUnit(t *testing.T) {
	for _, f := range All() {
		if f.Strikes == "" {
			t.Errorf("%s has no unit for what it strikes", f.Name)
		}
	}
}

// driver.Supports trusts Needs before a run: exactly the faults that break the API server say that
// they need it.
func TestFaultsSayWhatTheyNeed(t *testing.T) {
	for _, f := range All() {
		p := &patient{}
		heal, err := f.Strike(t.Context(), p, time.Hour, func(int) {})
		if err == nil {
			heal()
		}
		if injects := len(p.injected) > 0; injects != (f.Needs == APIServer) {
			t.Errorf("%s breaks the API server: %t, but needs %q", f.Name, injects, f.Needs)
		}
	}
}

// A victim is there while both its controller and its master run.
func TestSubjectIsThere(t *testing.T) {
	here := os.Getpid()
	for name, test := range map[string]struct {
		p    patient
		want bool
	}{
		"both":           {patient{controller: here, master: here}, true},
		"no controller":  {patient{controller: dead(t), master: here}, false},
		"no master":      {patient{controller: here, master: dead(t)}, false},
		"nobody started": {patient{}, false},
	} {
		if got := Running(&test.p); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestReferenceListsAllFaults(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range All() {
		if row := "| `" + f.Name + "` | " + f.Doc + " | " + f.Strikes + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/scenarios.md lacks the row\n%s", row)
		}
	}
}

// Pods are late only while the fault lasts.
func TestReadinessLate(t *testing.T) {
	f, _ := Find("readiness-late")
	p := &patient{}
	struck := -1
	heal, err := f.Strike(t.Context(), p, time.Hour, func(n int) { struck = n })
	if err != nil || p.late == 0 {
		t.Fatalf("%v late, %v", p.late, err)
	}
	heal()
	if p.late != 0 || struck != 5 {
		t.Errorf("after healing: %v late; struck %d pods, want the number that the victim reports", p.late, struck)
	}
}
