package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/internal/signal"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// stage is a driver without nginx: its subjects answer every request as a pod
// would. Their API servers, pods and controllers' processes are real.
type stage struct {
	t *testing.T
	// Failures to simulate, by the subject's name.
	unprepared, unlaunched, unrevived map[string]error
	revive                            func(context.Context, *actor) // called when a controller is started again; may be nil

	mu     sync.Mutex
	actors []*actor
	disk   disk // with the event log
}

func (*stage) Name() string { return "stage" }

func (*stage) ImageOf(s subject.Subject) string { return "registry.example/" + s.Name }

func (*stage) ProgramOf(s subject.Subject) string { return "/bin/" + s.Name }

func (s *stage) Prepare(_ context.Context, of subject.Subject, in driver.Options) (driver.Instance, error) {
	if err := s.unprepared[of.Name]; err != nil {
		return nil, err
	}
	free, err := port.Free(1)
	if err != nil {
		return nil, err
	}
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", AllowLoopbackEndpoints: true})
	if err != nil {
		return nil, err
	}
	a := &actor{stage: s, name: of.Name, options: in, stopping: make(chan struct{}), api: api, pods: backend.New(backend.Options{
		Prefix: netip.MustParsePrefix(fmt.Sprintf("127.%d.0.0/16", 220+in.Index)), Port: free, Log: in.Log, Subject: of.Name,
	})}
	a.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(backend.PodHeader, "demo/any")
	}))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actors = append(s.actors, a)
	return a, nil
}

// actor is a subject on the stage.
type actor struct {
	fault.Unable // no nginx has started

	stage   *stage
	name    string
	options driver.Options
	api     *kubeapi.Server
	pods    *backend.Loopback
	web     *httptest.Server

	mu      sync.Mutex
	process *exec.Cmd
	died    chan struct{}
	err     error
	revived int
	stopped bool

	stopping chan struct{} // closed when Stop is called
}

// begin starts a long-running process as the controller.
func (a *actor) begin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.process, a.died = exec.Command("sleep", "infinity"), make(chan struct{})
	if err := a.process.Start(); err != nil {
		return err
	}
	go func(process *exec.Cmd, died chan struct{}) {
		err := process.Wait()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err = fmt.Errorf("the controller of subject %s: %w: its last words", a.name, err)
		close(died)
	}(a.process, a.died)
	return nil
}

// end kills the process.
func (a *actor) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process != nil {
		a.process.Process.Kill() // an error means that it has ended
	}
}

func (a *actor) Launch(context.Context) error {
	if err := a.stage.unlaunched[a.name]; err != nil {
		return err
	}
	return a.begin()
}

func (a *actor) Revive(ctx context.Context) error {
	if a.stage.revive != nil {
		a.stage.revive(ctx, a)
	}
	if err := a.stage.unrevived[a.name]; err != nil {
		return err
	}
	a.mu.Lock()
	a.revived++
	a.mu.Unlock()
	return a.begin()
}

func (a *actor) Stop(context.Context) error {
	a.mu.Lock()
	a.stopped = true
	close(a.stopping)
	died := a.died
	a.mu.Unlock()
	a.end()
	if died != nil {
		<-died
	}
	a.web.Close()
	a.pods.Stop()
	return a.api.Close(context.Background())
}

func (a *actor) Signal(pid int, s syscall.Signal) error { return signal.Send(pid, s) }

func (a *actor) Controller() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.process.Process.Pid
}

func (a *actor) Died() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.died
}

func (a *actor) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *actor) Setup() *adapter.Setup     { return &adapter.Setup{} }
func (a *actor) API() *rest.Config         { return a.api.Config() }
func (a *actor) Pods() backend.Fleet       { return a.pods }
func (a *actor) TLS() netip.AddrPort       { return a.Address() }
func (a *actor) Streams() []netip.AddrPort { return nil }
func (a *actor) Address() netip.AddrPort {
	return netip.MustParseAddrPort(a.web.Listener.Addr().String())
}
func (a *actor) Healthy(context.Context) error { return nil }

// play runs a scenario on the stage. see is called with each event, and may
// interrupt; it must not block.
func (s *stage) play(text string, see func(e event.Event, interrupt context.CancelCauseFunc)) ([]event.Event, error) {
	s.t.Helper()
	story, err := scenario.Parse("story.yaml", []byte(text), scenario.Known{})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, interrupt := context.WithCancelCause(s.t.Context())
	defer interrupt(nil)
	start := time.Now()
	log := event.NewLog(&s.disk, start)
	var mu sync.Mutex
	var events []event.Event
	log.Tap(func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
		if see != nil {
			see(e, interrupt)
		}
	})
	err = run.Do(ctx, run.Options{Scenario: story, Seed: story.Seed, Driver: s, Dir: s.t.TempDir(), Log: log, Start: start})
	mu.Lock()
	defer mu.Unlock()
	for _, a := range s.actors {
		if !a.stopped {
			s.t.Errorf("subject %s was not stopped", a.name)
		}
	}
	return slices.Clone(events), err
}

// disk is where the event log is written, and may be full.
type disk struct{ full atomic.Bool }

func (d *disk) Write(p []byte) (int, error) {
	if d.full.Load() {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// phases returns the phases in the log, as "subject name round".
func phases(events []event.Event) []string {
	var all []string
	for _, e := range events {
		if e.Phase != nil {
			all = append(all, fmt.Sprintf("%s %s %d", e.Subject, e.Phase.Name, e.Phase.Round))
		}
	}
	return all
}

func begins(e event.Event, subject string, round int) bool {
	return e.Phase != nil && e.Phase.Name == event.RoundBegin && e.Subject == subject && e.Phase.Round == round
}

var errInterrupt = errors.New("interrupted by hand")

// writeRecording writes a recording to a file in the working directory, where play looks for it.
func writeRecording(t *testing.T, name string, r churn.Recording) {
	t.Helper()
	var text bytes.Buffer
	if err := errors.Join(churn.Write(&text, r), os.WriteFile(name, text.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}
