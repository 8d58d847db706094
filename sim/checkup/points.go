package checkup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/probe"
)

// stopPatience is how long a controller may take to end, as in a run.
const stopPatience = 20 * time.Second

// faultLasts is how long the API server fails.
const faultLasts = 2 * time.Second

func (c *checkup) starts(ctx context.Context) (string, error) {
	began := time.Now()
	if err := c.launch(ctx, c.instance.Launch); err != nil {
		return "", err
	}
	return "healthy after " + rounded(time.Since(began)), nil
}

// launch starts the controller, and remembers its process.
func (c *checkup) launch(ctx context.Context, start func(context.Context) error) error {
	if err := start(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = time.Now()
	c.pids = append(c.pids, c.instance.Controller())
	return nil
}

func (c *checkup) processes(ctx context.Context) (string, error) {
	master, err := c.instance.Master()
	if err != nil {
		return "", err
	}
	alive, err := c.workers.Await(ctx, func(alive []probe.Worker) bool { return len(alive) > 0 })
	if err != nil {
		return "", err
	}
	if c.instance.Setup().Processes.Workers == adapter.Single {
		return fmt.Sprintf("process %d, which is never replaced", master), nil
	}
	return fmt.Sprintf("master %d, %s", master, plural.Of(len(alive), "worker")), nil
}

func (c *checkup) serves(ctx context.Context) (string, error) {
	after, err := c.answers(ctx, c.host(1))
	return rounded(after) + " after it was healthy", err
}

// connections opens connections until the worker of one is known. A worker that has just begun to
// drain accepts none.
func (c *checkup) connections(ctx context.Context) (string, error) {
	last := errors.New("no connection yet")
	for {
		pid, err := c.owner(ctx)
		switch {
		case err == nil:
			return fmt.Sprintf("worker %d", pid), nil
		case ctx.Err() == nil: // otherwise the end of ctx cut the attempt off
			last = err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %w", context.Cause(ctx), last)
		}
	}
}

func (c *checkup) owner(ctx context.Context) (int, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.instance.Address().String())
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	if _, err := fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", c.host(1)); err != nil {
		return 0, err
	}
	if err := connection.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := connection.Read(make([]byte, 1)); err != nil { // it is accepted
		return 0, err
	}
	var pids []int
	for _, worker := range c.workers.Alive() {
		pids = append(pids, worker.PID)
	}
	return probe.Owner(connection, pids)
}

func (c *checkup) follows(ctx context.Context) (string, error) {
	return c.after(ctx, c.replacePod, c.host(1))
}

func (c *checkup) newHost(ctx context.Context) (string, error) {
	return c.after(ctx, c.addHost, c.host(c.hosts+1))
}

// after makes a change, and returns the time until a host gives the expected answer.
func (c *checkup) after(ctx context.Context, change func(context.Context) error, host string) (string, error) {
	before := c.generation()
	began := time.Now()
	if err := change(ctx); err != nil {
		return "", err
	}
	if _, err := c.answers(ctx, host); err != nil {
		return "", err
	}
	took := time.Since(began)
	if err := c.workers.Sample(ctx); err != nil { // the worker that answered is then seen
		return "", err
	}
	how := "without a reload"
	if n := c.generation() - before; n > 0 {
		how = "with " + plural.Of(n, "reload")
	}
	return fmt.Sprintf("after %s, %s", rounded(took), how), nil
}

// generation returns the newest generation of workers.
func (c *checkup) generation() int {
	newest := 0
	for _, worker := range c.workers.Alive() {
		newest = max(newest, worker.Generation)
	}
	return newest
}

func (c *checkup) syncs(context.Context) (string, error) {
	if len(c.instance.Setup().Log) == 0 {
		return "not visible: the adapter has no log lines", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.told) == 0 {
		return "", errors.New("no line of its log has matched")
	}
	reloads := 0
	for _, sync := range c.told {
		if sync.Reload {
			reloads++
		}
	}
	return fmt.Sprintf("%s, %d with a reload", plural.Of(len(c.told), "sync"), reloads), nil
}

// victim is the controller as a fault.Victim: Instance has some of the methods, and Unable refuses the rest.
type victim struct {
	driver.Instance
	unable
}

// unable is a separate type so that the methods of Instance take precedence over those of Unable.
type unable struct{ fault.Unable }

func (c *checkup) faults(ctx context.Context) (string, error) {
	f, known := fault.Find("api-5xx")
	if !known {
		return "", errors.New("there is no such fault")
	}
	over := make(chan int, 1)
	if _, err := f.Strike(ctx, victim{Instance: c.instance}, faultLasts, func(struck int) { over <- struck }); err != nil {
		if errors.Is(err, fault.ErrNotHere) {
			return "not supported by this driver", nil
		}
		return "", err
	}
	struck := <-over
	if struck == 0 {
		return "", fmt.Errorf("the fault affected none of its requests in %v: check that userAgent %q is that of its requests", faultLasts, c.instance.Setup().UserAgent)
	}
	found, err := c.follows(ctx)
	return fmt.Sprintf("%s; it followed a change of endpoints %s", plural.Of(struck, "request"), found), err
}

func (c *checkup) restarts(ctx context.Context) (string, error) {
	if err := c.instance.Signal(c.instance.Controller(), syscall.SIGKILL); err != nil {
		return "", fmt.Errorf("kill the controller: %w", err)
	}
	select {
	case <-c.instance.Died():
	case <-ctx.Done():
		return "", fmt.Errorf("its exit was not observed: %w", context.Cause(ctx))
	}
	began := time.Now()
	if err := c.launch(ctx, c.instance.Revive); err != nil {
		return "", err
	}
	if _, err := c.answers(ctx, c.host(1)); err != nil {
		return "", err
	}
	return "serves after " + rounded(time.Since(began)), nil
}

func (c *checkup) ends(ctx context.Context) (string, error) {
	if c.began.IsZero() {
		return "", errNotReached
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	began := time.Now()
	if err := c.instance.Stop(ctx); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return "", fmt.Errorf("it had to be killed after %v", stopPatience)
	}
	return "after " + rounded(time.Since(began)), nil
}

func (c *checkup) leavesNothing(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began.IsZero() && len(c.pids) == 0 {
		return "", errNotReached
	}
	var left []string
	for _, pid := range c.pids {
		if probe.Exists(pid) {
			left = append(left, fmt.Sprintf("%d (%s)", pid, strings.Join(probe.Command(pid), " ")))
		}
	}
	if len(left) > 0 {
		return "", errors.New("left: " + strings.Join(left, ", "))
	}
	return fmt.Sprintf("none of %d", len(c.pids)), nil
}

func rounded(d time.Duration) string { return d.Round(time.Millisecond).String() }
