package cluster

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
	"windtunnel.dev/sim/subject"
)

// requirement is what errors say that images of other controllers need.
const requirement = "; with --driver cluster, an image must run as user 101, and have its program at /nginx-ingress-controller: use --driver kind or container for others"

// An error about a container that does not start says why. For the image of another controller, it also
// says what the driver needs of an image, unless there is none.
func TestWhyControllersDoNotStart(t *testing.T) {
	waits := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "details"}}
	}
	ended := func(code int32, reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
	}
	for name, test := range map[string]struct {
		image string
		state corev1.ContainerState
		last  corev1.ContainerState
		want  string
		needs bool
	}{
		"created":     {image: "fork", state: waits("CreateContainerError"), want: "CreateContainerError: details", needs: true},
		"run":         {image: "fork", state: waits("RunContainerError"), want: "RunContainerError: details", needs: true},
		"pulled":      {image: "fork", state: waits("ErrImagePull"), want: "ErrImagePull: details"},
		"ended":       {image: "fork", state: ended(1, "Error", ""), want: "ended with code 1 (Error): permission denied", needs: true},
		"never began": {image: "fork", state: ended(128, "StartError", "exec:\n no such file"), want: "ended with code 128 (StartError: exec: no such file): permission denied", needs: true},
		"again":       {image: "fork", state: waits("CrashLoopBackOff"), last: ended(1, "Error", ""), want: "ended with code 1 (Error): permission denied", needs: true},
		"the bundled": {image: "windtunnel-controller", state: ended(1, "Error", ""), want: "ended with code 1 (Error): permission denied"},
	} {
		i := &instance{
			driver:  &Driver{Options: Options{Image: test.image}, client: showing(t, test.state, test.last)},
			options: driver.Options{Dir: t.TempDir()}, subject: subject.Subject{Name: "a", Controller: subject.Bundled},
		}
		err := i.withNeeds(i.awaitController(t.Context()))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), requirement) != test.needs {
			t.Errorf("%s: %v, want %s, and what an image needs: %v", name, err, test.want, test.needs)
		}
	}
}

// A controller that ends soon after its start may be seen to run first.
func TestControllerEndsSoonAfterItsStart(t *testing.T) {
	i := &instance{driver: &Driver{Options: Options{Image: "fork"}}, subject: subject.Subject{Controller: subject.Bundled}}
	c := &container{died: make(chan struct{}), err: errors.New("permission denied")}
	close(c.died)
	i.current.Store(c)
	if err := i.withNeeds(i.ended()); err == nil || err.Error() != "permission denied"+requirement {
		t.Error(err)
	}
}

// showing returns a client of an API server with one pod, whose controller is in the given states.
func showing(t *testing.T, state, last corev1.ContainerState) kubernetes.Interface {
	t.Helper()
	pods := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: incluster.Container, State: state, LastTerminationState: last}}},
	}}}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			w.Write([]byte("permission denied\n"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(pods)
	}))
	t.Cleanup(api.Close)
	return kubernetes.NewForConfigOrDie(&rest.Config{Host: api.URL})
}
