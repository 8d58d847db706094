// Package apply brings nginx to the state that a plan requires. It stands between the plan and the
// nginx process with its files and its control port. Its one rule: the running state advances with
// each step that succeeds, so the next plan starts from the real state of nginx even after a
// failure.
package apply

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/controller/announce"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/passthrough"
	"windtunnel.dev/controller/plan"
)

// Target is one nginx: its files below a root directory, its process (the first step starts it),
// and its running state.
type Target struct {
	nginx       *nginx.Nginx
	layout      Layout
	control     string // URL of the status server
	stream      string // address of the stream port
	secret      string // see Options
	retry       wait.Backoff
	passthrough *passthrough.Proxy
	announcer   *announce.Announcer
	stderr      io.Writer
	complain    func(Complaint)
	ended       chan struct{}
	drained     func(time.Duration)

	draining atomic.Int32 // reloads whose old workers have not ended

	files map[string]secretFile // that we wrote, by path; Do and Try are never called concurrently

	sequence atomic.Uint64 // the sequence number from Lua of the newest backends; 0 if it gives none

	mu      sync.Mutex
	process *nginx.Process // nil before the start
	running plan.State
}

// Options configure a Target.
type Options struct {
	Nginx      *nginx.Nginx
	Layout     Layout
	StatusPort int          // of nginx's status server on 127.0.0.1, which receives the POSTs
	StreamPort int          // of nginx's stream block on 127.0.0.1, which receives TCP and UDP backends
	Retry      wait.Backoff // for POSTs; see Retry
	// Secret authenticates changes to nginx's Lua code. It is empty if the Lua code requires none.
	Secret string
	// Passthrough is our own TLS listener; nil if nginx listens itself.
	Passthrough *passthrough.Proxy
	// Announcer notifies the workers of new backends; nil: they poll.
	Announcer *announce.Announcer
	Stderr    io.Writer // receives nginx's standard error
	// Drained, if not nil, is called when the last old worker of a reload has ended. took is the
	// time since the reload's signal.
	Drained func(took time.Duration)
	// Complain is called by Do, immediately, for each complaint of nginx's Lua about configuration
	// that it received.
	Complain func(Complaint)
}

// Retry returns the backoff that ingress-nginx uses for a failed POST: the first pause is 1 s, each
// further one is 1.3 times as long, and each gets up to 10 % of jitter. retries is the value of
// --dynamic-configuration-retries.
func Retry(retries int) wait.Backoff {
	return wait.Backoff{Steps: 1 + retries, Duration: time.Second, Factor: 1.3, Jitter: 0.1}
}

// New returns a target whose nginx is not running yet.
func New(o Options) *Target {
	if o.Complain == nil {
		o.Complain = func(Complaint) {}
	}
	return &Target{
		nginx:       o.Nginx,
		layout:      o.Layout,
		control:     fmt.Sprintf("http://127.0.0.1:%d", o.StatusPort),
		stream:      fmt.Sprintf("127.0.0.1:%d", o.StreamPort),
		secret:      o.Secret,
		retry:       o.Retry,
		passthrough: o.Passthrough,
		announcer:   o.Announcer,
		stderr:      o.Stderr,
		complain:    o.Complain,
		ended:       make(chan struct{}),
		drained:     o.Drained,
		files:       make(map[string]secretFile),
	}
}

// Do performs the steps in order and stops at the first one that fails. In both cases the report
// describes what was done. Do is not safe for concurrent use.
func (t *Target) Do(ctx context.Context, steps []plan.Step) (Report, error) {
	var report Report
	for _, step := range steps {
		if err := t.do(ctx, step, &report); err != nil {
			return report, err
		}
		t.mu.Lock()
		t.running = step.Next
		t.mu.Unlock()
	}
	return report, nil
}

func (t *Target) do(ctx context.Context, step plan.Step, report *Report) error {
	switch step.Kind {
	case plan.Reload:
		return t.load(ctx, step.Next, report)
	case plan.PostBackends:
		return t.postBackends(ctx, step, report)
	case plan.PostServers:
		return t.postServers(ctx, step.Next, report)
	case plan.Pass:
		return t.pass(step.Next)
	case plan.SendStream:
		return t.sendStream(ctx, step.Next.Stream.Body(), report)
	default:
		return fmt.Errorf("unknown kind of plan step: %q", step.Kind)
	}
}

// Running returns the state that nginx runs; the zero State before the first start.
func (t *Target) Running() plan.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

// Ended returns a channel that is closed when nginx has ended, by itself or by Quit. It stays open
// until nginx has been started.
func (t *Target) Ended() <-chan struct{} { return t.ended }

// Quit shuts nginx down gracefully: its workers may finish their requests until ctx is done. It
// returns when no nginx process is left.
func (t *Target) Quit(ctx context.Context) error {
	var passed sync.WaitGroup
	defer passed.Wait()
	if t.passthrough != nil {
		passed.Go(func() { t.closePassthrough(ctx) })
	}
	if process := t.started(); process != nil {
		return process.Quit(ctx)
	}
	return nil
}

// Process returns the running nginx; nil before the first start.
func (t *Target) Process() *nginx.Process { return t.started() }

func (t *Target) started() *nginx.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.process
}
