package container

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"windtunnel.dev/internal/process"
	"windtunnel.dev/sim/probe"
)

// life is a container, from its start to its end. It implements simulated.Controller.
type life struct {
	container testcontainers.Container
	api       client.APIClient
	init      int           // PID of the container's first process on the host; 0 before its start
	logged    chan struct{} // closed when its log has ended
	conf      []byte        // nginx.conf at the time when the container was asked to end; nil if unknown

	mu  sync.Mutex
	pid int // PID of the controller as last seen; 0 before it is found
}

// begin starts the container, looks up its first process, and follows its log. It reads the
// engine's log stream, because that of testcontainers reconnects every few seconds and loses lines
// in between.
func (l *life) begin(ctx context.Context, out io.Writer) error {
	if err := l.container.Start(ctx); err != nil {
		return fmt.Errorf("start container %s: %w", l.container.GetContainerID(), err)
	}
	state, err := l.api.ContainerInspect(ctx, l.container.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect container %s: %w", l.container.GetContainerID(), err)
	}
	l.init = state.Container.State.Pid
	log, err := l.api.ContainerLogs(context.WithoutCancel(ctx), l.container.GetContainerID(),
		client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err != nil {
		return fmt.Errorf("follow the log of container %s: %w", l.container.GetContainerID(), err)
	}
	go func() {
		defer close(l.logged)
		defer log.Close()
		if _, err := stdcopy.StdCopy(out, out, log); err != nil {
			fmt.Fprintln(out, "windtunnel: the container's log ended early:", err)
		}
	}()
	return nil
}

// PID returns the PID of the process with our flags. An init process (tini, dumb-init) also has
// them in its command line; shortly after it, the controller appears as its child.
func (l *life) PID() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pid != 0 && l.pid != l.init {
		return l.pid
	}
	for _, pid := range append([]int{l.init}, process.Below(l.init)...) {
		if slices.Contains(probe.Command(pid), "--kubeconfig="+kubeconfig) {
			l.pid = pid
		}
	}
	return l.pid
}

// Terminate reads nginx.conf first, because mounts over its folder disappear with the container.
func (l *life) Terminate() error {
	if content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/%s", l.init, confName)); err == nil {
		l.conf = content
	}
	return l.signal("SIGTERM")
}

func (l *life) Kill() error { return l.signal("SIGKILL") }

// confName is the path of nginx.conf for place.Read.
const confName = "etc/nginx/nginx.conf"

func (l *life) signal(name string) error {
	ctx, id := context.Background(), l.container.GetContainerID()
	_, err := l.api.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: name})
	if err == nil {
		return nil
	}
	// Engines report in different ways that there is nothing to kill.
	state, unknown := l.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(unknown) || unknown == nil && !state.Container.State.Running {
		return nil
	}
	return err
}

// Wait waits for the end of the container. Its error also reports whether the container ran out of
// memory.
func (l *life) Wait() error {
	<-l.logged
	ctx := context.Background()
	wait := l.api.ContainerWait(ctx, l.container.GetContainerID(), client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
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
	state, err := l.api.ContainerInspect(ctx, l.container.GetContainerID(), client.ContainerInspectOptions{})
	if err == nil && state.Container.State.OOMKilled {
		return fmt.Errorf("exit status %d, out of memory", code)
	}
	return fmt.Errorf("exit status %d", code)
}
