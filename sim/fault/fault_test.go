package fault

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	kubefault "windtunnel.dev/sim/kubeapi/fault"
)

// patient is a victim that notes what happens to it.
type patient struct {
	injected []string
	healed   int
	workers  []int
	refuses  bool

	controller, port int
	master           int
	late             time.Duration
	troubles         []string
}

func (p *patient) Inject(f kubefault.Fault, _ kubefault.Scope) (func(), error) {
	if p.refuses {
		return nil, ErrNotHere
	}
	p.injected = append(p.injected, f.Name)
	return func() { p.healed++ }, nil
}
func (p *patient) Workers() []int { return p.workers }
func (p *patient) Master() (int, error) {
	if p.master == 0 {
		return 0, errors.New("no master")
	}
	return p.master, nil
}
func (p *patient) Controller() int       { return p.controller }
func (p *patient) StatusPort() int       { return p.port }
func (p *patient) Late(by time.Duration) { p.late = by }
func (p *patient) Trouble(what, detail string) {
	p.troubles = append(p.troubles, what+": "+detail)
}

func TestLastingFaultsHeal(t *testing.T) {
	for _, f := range ofAPI {
		p := &patient{}
		told := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := f.Strike(ctx, p, time.Hour, func() { close(told) })
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if len(p.injected) == 0 {
			t.Errorf("%s injects nothing", f.Name)
		}
		cancel() // the end of the round comes before the end of the fault
		<-told
		if f.Lasts && p.healed != 1 {
			t.Errorf("%s: healed %d times, want once", f.Name, p.healed)
		}
	}
}

func TestDriverThatCannot(t *testing.T) {
	f, _ := Find("api-restart")
	if _, err := f.Strike(t.Context(), &patient{refuses: true}, time.Second, func() { t.Error("healed what never struck") }); !errors.Is(err, ErrNotHere) {
		t.Errorf("got %v", err)
	}
}

// A worker that is killed is dead, the oldest of them and no other.
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
	if _, err := f.Strike(t.Context(), p, 0, func() {}); err != nil {
		t.Fatal(err)
	}
	oldest := slices.MinFunc(workers, func(a, b *exec.Cmd) int { return a.Process.Pid - b.Process.Pid })
	oldest.Wait()
	if status := oldest.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended by %v", status)
	}
	for _, w := range workers {
		if w != oldest && w.Process.Signal(syscall.Signal(0)) != nil {
			t.Error("the other is dead, too")
		}
	}
	p.workers = nil
	if _, err := f.Strike(t.Context(), p, 0, func() {}); err == nil || !strings.Contains(err.Error(), "no workers") {
		t.Errorf("with no worker: %v", err)
	}
}

func TestReferenceNamesAll(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range All() {
		if row := "| `" + f.Name + "` | " + f.Doc + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/scenarios.md has no row\n%s", row)
		}
	}
}

// Pods are late only as long as it lasts.
func TestReadinessLate(t *testing.T) {
	f, _ := Find("readiness-late")
	p := &patient{}
	heal, err := f.Strike(t.Context(), p, time.Hour, func() {})
	if err != nil || p.late == 0 {
		t.Fatalf("%v late, %v", p.late, err)
	}
	heal()
	if p.late != 0 {
		t.Errorf("still %v late", p.late)
	}
}
