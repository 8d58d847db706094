package kind

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/incluster"
)

// crashed is what a run says about the container of showing.
const crashed = "the controller ended with code 2 (Error): panic: no template | goroutine 1"

var (
	waits = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "details"}}
	runs  = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error", ContainerID: "containerd://one"}}
)

// A first container that has ended is reported as soon as the kubelet says so: with its exit code and the end
// of its log.
func TestFirstContainersThatEnd(t *testing.T) {
	for name, test := range map[string]struct {
		status corev1.ContainerStatus
		want   string
	}{
		"ended":            {corev1.ContainerStatus{State: ended}, crashed},
		"waits":            {corev1.ContainerStatus{State: waits, LastTerminationState: ended}, crashed},
		"runs again":       {corev1.ContainerStatus{State: runs, LastTerminationState: ended}, crashed},
		"waits, not known": {corev1.ContainerStatus{State: waits}, "CrashLoopBackOff: details"},
	} {
		i := &instance{client: showing(t, test.status), options: driver.Options{Dir: t.TempDir()}}
		if _, err := i.awaitContainer(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// A container that was seen to run before it ended is reported like one that was not.
func TestContainersThatEndSoon(t *testing.T) {
	for name, status := range map[string]corev1.ContainerStatus{
		"ended":      {State: ended},
		"runs again": {State: runs, LastTerminationState: ended},
	} {
		i := &instance{client: showing(t, status)}
		err := i.ending(t.Context(), &controllerContainer{id: "one", err: errors.New("goroutine 1")})
		if err == nil || err.Error() != crashed {
			t.Errorf("%s: %v, want %s", name, err, crashed)
		}
	}
}

// showing returns a client of an API server with one pod, whose controller has the given status.
func showing(t *testing.T, status corev1.ContainerStatus) kubernetes.Interface {
	t.Helper()
	status.Name = incluster.Container
	pods := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}},
	}}}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			w.Write([]byte("panic: no template\n\ngoroutine 1\n"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(pods)
	}))
	t.Cleanup(api.Close)
	return kubernetes.NewForConfigOrDie(&rest.Config{Host: api.URL})
}
