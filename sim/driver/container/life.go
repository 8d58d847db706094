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

// life is a container from its start to its end, a simulated.Controller.
type life struct {
	container testcontainers.Container
	api       client.APIClient
	init      int           // the container's first process, as the host counts; 0: not started
	logged    chan struct{} // closed when its log has ended
	conf      []byte        // nginx.conf as it was when the container was told to end; nil: not known

	mu  sync.Mutex
	pid int // the controller, as last seen; 0 before that
}

// begin starts the container, looks for its processes, and follows its log: the
// engine's own stream. (That of testcontainers begins anew every few seconds, and
// loses what is written meanwhile.)
func (l *life) begin(ctx context.Context, out io.Writer) error {
	if err := l.container.Start(ctx); err != nil {
		return fmt.Errorf("starting container %s: %w", l.container.GetContainerID(), err)
	}
	state, err := l.api.ContainerInspect(ctx, l.container.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("looking at container %s: %w", l.container.GetContainerID(), err)
	}
	l.init = state.Container.State.Pid
	log, err := l.api.ContainerLogs(context.WithoutCancel(ctx), l.container.GetContainerID(),
		client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err != nil {
		return fmt.Errorf("following the log of container %s: %w", l.container.GetContainerID(), err)
	}
	go func() {
		defer close(l.logged)
		defer log.Close()
		if _, err := stdcopy.StdCopy(out, out, log); err != nil {
			fmt.Fprintln(out, "windtunnel: the container's log broke off:", err)
		}
	}()
	return nil
}

// PID is the process that has our flags. An init process (tini, dumb-init) has
// them in its command line, too, and the controller below it a moment later.
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

// Terminate reads nginx.conf first: what is mounted over its folder ends with the container.
func (l *life) Terminate() error {
	if content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/%s", l.init, confName)); err == nil {
		l.conf = content
	}
	return l.signal("SIGTERM")
}

func (l *life) Kill() error { return l.signal("SIGKILL") }

// confName is nginx.conf's, as place.Read has it.
const confName = "etc/nginx/nginx.conf"

func (l *life) signal(name string) error {
	ctx, id := context.Background(), l.container.GetContainerID()
	_, err := l.api.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: name})
	if err == nil {
		return nil
	}
	// Engines tell in different ways that there is nothing to kill.
	state, unknown := l.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(unknown) || unknown == nil && !state.Container.State.Running {
		return nil
	}
	return err
}

// Wait also says when it was for memory that a container ended.
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
