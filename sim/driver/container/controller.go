package container

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"windtunnel.dev/sim/probe"
)

// controller is a container, from its start to its end. It implements simulated.Controller.
type controller struct {
	container testcontainers.Container
	api       client.APIClient
	arguments []string      // of the controller
	logged    chan struct{} // closed when its log has ended
	conf      []byte        // nginx.conf at the time when the container was asked to end; nil if unknown

	mu   sync.Mutex
	init int // PID of the container's first process on the host; 0 before its start
	pid  int // PID of the controller as last seen; 0 before it is found
}

// begin starts the container, looks up its first process, and follows its log. It reads the
// engine's log stream, because that of testcontainers reconnects every few seconds and loses lines
// in between.
func (c *controller) begin(ctx context.Context, out io.Writer) error {
	if err := c.container.Start(ctx); err != nil {
		return fmt.Errorf("start container %s: %w", c.container.GetContainerID(), err)
	}
	state, err := c.api.ContainerInspect(ctx, c.container.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect container %s: %w", c.container.GetContainerID(), err)
	}
	c.mu.Lock()
	c.init = state.Container.State.Pid
	c.mu.Unlock()
	log, err := c.api.ContainerLogs(context.WithoutCancel(ctx), c.container.GetContainerID(),
		client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err != nil {
		return fmt.Errorf("follow the log of container %s: %w", c.container.GetContainerID(), err)
	}
	go func() {
		defer close(c.logged)
		defer log.Close()
		if _, err := stdcopy.StdCopy(out, out, log); err != nil {
			fmt.Fprintln(out, "windtunnel: the container's log ended early:", err)
		}
	}()
	return nil
}

// PID returns the PID of the controller, and 0 before the container starts. While an init process (tini,
// dumb-init) has not started it, that is the init process.
func (c *controller) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.init != 0 && (c.pid == 0 || c.pid == c.init) {
		c.pid = probe.WithArguments(c.init, c.arguments)
	}
	return c.pid
}

// Terminate reads nginx.conf first, because mounts over its folder disappear with the container.
func (c *controller) Terminate() error {
	if content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/%s", c.init, confName)); err == nil {
		c.conf = content
	}
	return c.signal("SIGTERM")
}

func (c *controller) Kill() error { return c.signal("SIGKILL") }

// confName is the path of nginx.conf for runtime.Read.
const confName = "etc/nginx/nginx.conf"

func (c *controller) signal(name string) error {
	ctx, id := context.Background(), c.container.GetContainerID()
	_, err := c.api.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: name})
	if err == nil {
		return nil
	}
	// Engines report in different ways that there is nothing to kill.
	state, unknown := c.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(unknown) || unknown == nil && !state.Container.State.Running {
		return nil
	}
	return err
}

// Wait waits for the end of the container. Its error also reports whether the container ran out of
// memory.
func (c *controller) Wait() error {
	<-c.logged
	ctx := context.Background()
	wait := c.api.ContainerWait(ctx, c.container.GetContainerID(), client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	var code int64
	select {
	case err := <-wait.Error:
		return err
	case end := <-wait.Result:
		code = end.StatusCode
	}
	if code == 0 {
		return nil
	}
	state, err := c.api.ContainerInspect(ctx, c.container.GetContainerID(), client.ContainerInspectOptions{})
	if err == nil && state.Container.State.OOMKilled {
		return fmt.Errorf("exit status %d, out of memory", code)
	}
	return fmt.Errorf("exit status %d", code)
}
