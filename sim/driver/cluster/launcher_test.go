package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/agent"
	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/event"
)

// controllerPod returns the pod of the controller that is not being deleted.
func (s *site) controllerPod(t *testing.T, i *instance) *corev1.Pod {
	t.Helper()
	pod, _, err := i.findController(t.Context())
	if err != nil || pod == nil {
		t.Fatalf("no pod of the controller: %v", err)
	}
	return pod
}

// launch starts the controller of an image. In its first pod, the first process is hidden from the observer,
// for the given reason.
func (s *site) launch(t *testing.T, hidden string) (_ *instance, first string) {
	t.Helper()
	s.entry = func(pod string) agent.Entry {
		object, err := s.client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: incluster.Selector})
		if err != nil {
			t.Error(err)
		}
		e := agent.Entry{Command: []string{"/usr/bin/dumb-init", "--"}}
		for _, one := range object.Items {
			if one.Name == pod {
				e.Command = append(e.Command, one.Spec.Containers[0].Args...)
				if len(one.Spec.InitContainers) == 0 {
					first, e.Hidden = pod, hidden
				}
			}
		}
		return e
	}
	i, err := s.prepareSubject(t, s.open(t, s.options()), "image:registry.example/fork:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := i.start(t.Context(), i.install, i.awaitController, i.unhide); err != nil {
		t.Fatal(err)
	}
	return i, first
}

// launchers returns those that the log has.
func (s *site) launchers() (all []event.Launcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Launcher != nil && e.Subject == "subject" {
			all = append(all, *e.Launcher)
		}
	}
	return all
}

// A controller whose open files the observer cannot see starts again, through the launcher: with the
// ENTRYPOINT and the arguments that it had.
func TestHiddenControllersStartAgain(t *testing.T) {
	s := newSite(t)
	i, first := s.launch(t, "permission denied")
	pod := s.controllerPod(t, i)
	if c := i.current.Load(); c.pod == first || c.pod != pod.Name {
		t.Errorf("the run follows the pod %s; the hidden one was %s, and %s is alive", c.pod, first, pod.Name)
	}
	controller, copies := pod.Spec.Containers[0], pod.Spec.InitContainers
	if want := []string{launcher, "agent", "exec", "--", "/usr/bin/dumb-init", "--"}; !slices.Equal(controller.Command, want) {
		t.Errorf("the command is %q, want %q", controller.Command, want)
	}
	if controller.Args[0] != forkProgram || !slices.ContainsFunc(controller.Args, func(a string) bool { return strings.HasPrefix(a, "--watch-namespace=") }) {
		t.Errorf("the arguments are %q, want those of the first start", controller.Args)
	}
	if len(copies) != 1 || !slices.Equal(copies[0].Args, []string{"agent", "copy", launcher}) {
		t.Fatalf("the init containers are %+v, want one that copies the launcher", copies)
	}
	for _, c := range []corev1.Container{controller, copies[0]} {
		if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == launcherDir }) {
			t.Errorf("the container %s does not mount %s", c.Name, launcherDir)
		}
	}
	if said := strings.Join(s.notices, "\n"); !strings.Contains(said, "(permission denied)") || strings.Contains(said, "file capabilities") {
		t.Errorf("the user is told %q, want what hides the controller, as the observer says it", said)
	}
	if got := s.launchers(); !slices.Equal(got, []event.Launcher{{Why: "permission denied"}}) {
		t.Errorf("the log has the launchers %+v", got)
	}
	s.end(t, i)
}

func TestVisibleControllersStartOnce(t *testing.T) {
	s := newSite(t)
	i, first := s.launch(t, "")
	if pod := s.controllerPod(t, i); pod.Name != first || len(pod.Spec.InitContainers) > 0 || pod.Spec.Containers[0].Command != nil {
		t.Errorf("the pod is %s with %+v, want the first one, %s, as it was", pod.Name, pod.Spec, first)
	}
	if got := s.launchers(); len(got) > 0 {
		t.Errorf("the log has the launchers %+v", got)
	}
	s.end(t, i)
}

// A run with an image of windtunnel that is older than the harness ends at once. The error says what to do.
func TestOldHarnessImage(t *testing.T) {
	s := newSite(t)
	s.old = true
	i, err := s.prepareSubject(t, s.open(t, s.options()), "image:registry.example/fork:v1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = i.start(ctx, i.install, i.awaitController, i.unhide)
	if err == nil || ctx.Err() != nil {
		t.Fatalf("got %v, want an error before the time is over", err)
	}
	for _, want := range []string{"its image is older than this windtunnel", "`make image`", "--harness-image", HarnessImage} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	s.end(t, i)
}

func TestEntrypoint(t *testing.T) {
	command := []string{"/usr/bin/dumb-init", "--", "/nginx-ingress-controller", "--publish-service=ns/svc"}
	for _, c := range []struct {
		args, want []string
		fails      bool
	}{
		{args: []string{"/nginx-ingress-controller", "--publish-service=$(POD_NAMESPACE)/svc"}, want: command[:2]},
		{args: command, want: []string{}},
		{args: []string{"/nginx-ingress-controller", "--v=2"}, fails: true},
		{args: append([]string{"sh", "-c"}, command...), fails: true},
	} {
		got, err := entrypoint(command, c.args)
		if (err != nil) != c.fails || (got == nil) != c.fails || !slices.Equal(got, c.want) {
			t.Errorf("of %q before %q, the entry point is %q, %v; want %q", command, c.args, got, err, c.want)
		}
	}
}
