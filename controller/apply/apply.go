// Package apply makes nginx be what a plan says. It stands between the plan
// and the nginx process with its files and its control port. Its one rule: the
// running state advances with each step that is done, so that whatever fails,
// the next plan starts from what nginx really has.
package apply

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/passthrough"
	"windtunnel.dev/controller/plan"
)

// Target is one nginx: its files below a root directory, its process once the
// first step has started it, and what it runs.
type Target struct {
	nginx       *nginx.Nginx
	layout      Layout
	control     string // URL of the status server
	stream      string // address of the stream port
	secret      string // see Options
	retry       wait.Backoff
	passthrough *passthrough.Proxy
	stderr      io.Writer
	complain    func(Complaint)
	ended       chan struct{}
	drained     func(time.Duration)

	draining atomic.Int32 // reloads whose old workers have not ended

	sequence atomic.Uint64 // the number that Lua gave the newest backends; 0 if it gives none

	mu      sync.Mutex
	process *nginx.Process // nil before the start
	running plan.State
}

// Options of a Target.
type Options struct {
	Nginx      *nginx.Nginx
	Layout     Layout
	StatusPort int          // of nginx's status server on 127.0.0.1, which takes the POSTs
	StreamPort int          // of nginx's stream block on 127.0.0.1, which takes TCP and UDP backends
	Retry      wait.Backoff // of a POST; see Retry
	// Secret is what Lua asks of whoever changes what nginx serves; empty: it asks
	// for nothing.
	Secret string
	// Passthrough is our own TLS listener; nil where nginx listens itself.
	Passthrough *passthrough.Proxy
	Stderr      io.Writer // what nginx writes to its standard error
	// Drained, if not nil, is told how long after the signal of a reload the
	// last of its old workers ended.
	Drained func(took time.Duration)
	// Complain is told at once, and each time, what nginx's Lua says against
	// what it is sent. It is called by Do.
	Complain func(Complaint)
}

// Retry is how ingress-nginx repeats a POST that failed: after 1 s, each pause
// 1.3 times the last one and up to a tenth longer, as often as
// --dynamic-configuration-retries says.
func Retry(retries int) wait.Backoff {
	return wait.Backoff{Steps: 1 + retries, Duration: time.Second, Factor: 1.3, Jitter: 0.1}
}

// New returns a target whose nginx does not run yet.
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
		stderr:      o.Stderr,
		complain:    o.Complain,
		ended:       make(chan struct{}),
		drained:     o.Drained,
	}
}

// Do performs the steps in order and stops at the first that fails. The report
// tells of what was done, in both cases. It is not for concurrent use.
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
		return fmt.Errorf("a plan's step of kind %q is unknown to apply", step.Kind)
	}
}

// Running is what nginx has: the zero State before the first start.
func (t *Target) Running() plan.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

// Ended is closed when an nginx that was started has ended, by itself or by
// Quit.
func (t *Target) Ended() <-chan struct{} { return t.ended }

// Quit ends nginx gracefully: its workers finish their requests until ctx is
// done. It returns when none of its processes is left.
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

func (t *Target) started() *nginx.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.process
}
