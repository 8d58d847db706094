package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/agent"
	"windtunnel.dev/sim/event"
)

// The launcher is a copy of windtunnel in the controller's container.
const (
	launcherName = "launcher" // of its volume, and of the container that copies it
	launcherDir  = "/windtunnel-launcher"
	launcher     = launcherDir + "/windtunnel"
)

// unhide starts the controller again, through the launcher, if the observer cannot see its open files. This is
// so for images whose programs have file capabilities, as those of ingress-nginx: the capabilities of such a
// process hide it from others (ptrace(2)). The launcher has none, and loses those of the container. Programs
// that it starts do not get them back, because the pod forbids gaining privileges (no_new_privs). The log says
// that the launcher runs the controller.
func (i *instance) unhide(ctx context.Context) error {
	if i.isBundled() {
		return nil
	}
	entry, err := i.awaitEntry(ctx)
	if err != nil || entry.Hidden == "" {
		return err
	}
	c := i.current.Load()
	pod, err := i.driver.client.CoreV1().Pods(i.home.name()).Get(ctx, c.pod, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if i.entrypoint, err = entrypoint(entry.Command, pod.Spec.Containers[0].Args); err != nil {
		return err
	}
	hidden := entry.Hidden
	i.driver.Tell(fmt.Sprintf("the observer does not see the open files of the controller of %s (%s): a launcher starts it again, without capabilities", i.subject.Name, hidden))
	if err := i.updateDeployment(ctx); err != nil {
		return err
	}
	if err := i.awaitDeletion(ctx, c.pod); err != nil {
		return err
	}
	i.current.Store(nil)
	if err := i.awaitController(ctx); err != nil {
		return err
	}
	if entry, err = i.awaitEntry(ctx); err != nil {
		return err
	}
	if entry.Hidden != "" {
		return fmt.Errorf("the observer does not see the open files of the controller, even if a launcher starts it: %s", entry.Hidden)
	}
	log := i.options.Log
	log.Write(event.Event{At: log.Now(), Subject: i.subject.Name, Launcher: &event.Launcher{Why: hidden}})
	return nil
}

// entrypoint returns what a command line has before the arguments of its container: the image's ENTRYPOINT,
// which is empty but not nil if the image has none.
func entrypoint(command, args []string) ([]string, error) {
	n := len(command) - len(args)
	same := func(is, want string) bool { return is == want || strings.Contains(want, "$(") } // the kubelet expands variables
	if n < 0 || !slices.EqualFunc(command[n:], args, same) {
		return nil, fmt.Errorf("the image's ENTRYPOINT is not known, because its process has other arguments (%q) than its container (%q): use --driver kind or container",
			command, args)
	}
	return command[:n], nil
}

// awaitEntry waits for the observer, and returns the first process of the controller's container.
func (i *instance) awaitEntry(ctx context.Context) (entry agent.Entry, err error) {
	c := i.current.Load()
	peer := i.peer(c.pod, c.node)
	var why error
	err = poll(ctx, func() (bool, error) {
		if entry, why = peer.Entry(ctx); why == nil {
			return true, nil
		}
		if errors.Is(why, agent.ErrOldAgent) {
			return false, fmt.Errorf("%w; `make image` builds the image of this version, and --harness-image names it (now: %s)", why, i.driver.Harness)
		}
		pod, status, err := i.findController(ctx)
		if err != nil || pod == nil || status == nil || status.State.Running != nil {
			return false, err
		}
		return false, i.failed(ctx, *pod, status)
	})
	if err != nil && !errors.As(err, &notRunning{}) && !errors.Is(err, agent.ErrOldAgent) {
		err = fmt.Errorf("wait for the observer: %w", errors.Join(err, why))
	}
	return entry, err
}

// updateDeployment writes the controller's Deployment again.
func (i *instance) updateDeployment(ctx context.Context) error {
	objects, err := i.controllerObjects()
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o runtime.Object) bool { _, is := o.(*appsv1.Deployment); return !is })
	return i.write(ctx, objects...)
}

// awaitDeletion waits until a pod is being deleted.
func (i *instance) awaitDeletion(ctx context.Context, name string) error {
	return poll(ctx, func() (bool, error) {
		pod, err := i.driver.client.CoreV1().Pods(i.home.name()).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && pod.DeletionTimestamp != nil, err
	})
}

// addLauncher has the launcher start the controller's container: its ENTRYPOINT, with the same arguments.
func addLauncher(pod *corev1.PodSpec, entrypoint []string, copies corev1.Container) {
	mount := corev1.VolumeMount{Name: launcherName, MountPath: launcherDir}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: launcherName, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	copies.Args = []string{"agent", "copy", launcher}
	copies.Env, copies.Ports, copies.VolumeMounts = nil, nil, []corev1.VolumeMount{mount}
	pod.InitContainers = append(pod.InitContainers, copies)
	controller := &pod.Containers[0]
	controller.Command = append([]string{launcher, "agent", "exec", "--"}, entrypoint...)
	controller.VolumeMounts = append(controller.VolumeMounts, mount)
}
