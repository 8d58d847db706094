package follow_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/follow"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

func start(t *testing.T) *kubeapi.Server {
	t.Helper()
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	return server
}

func inject(t *testing.T, server *kubeapi.Server, f fault.Fault) (stop func() int) {
	t.Helper()
	stop, err := server.Inject(f, fault.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// A cluster that cannot be read is an error with the reason.
func TestUnreadable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := listener.Addr().String()
	listener.Close()
	refusing := start(t)
	inject(t, refusing, fault.Forbidden())
	stranger := start(t).Config()
	stranger.BearerToken = "wrong"
	for name, config := range map[string]*rest.Config{
		"connection refused": {Host: "http://" + gone},
		"orbidden":           refusing.Config(),
		"nauthorized":        stranger,
	} {
		_, err := follow.Start(t.Context(), config, nil)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "list ") {
			t.Errorf("want an error with %q: %v", name, err)
		}
	}
}

// Changes during an outage arrive after it, and a second outage is reported as well.
func TestOutage(t *testing.T) {
	server := start(t)
	f, err := follow.Start(t.Context(), server.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ReadInitialState(t.Context(), func(follow.Event) {}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		restart := inject(t, server, fault.Crash(0))
		awaitOutage(t, f)
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		if _, err := server.Writer().Create(service); err != nil {
			t.Fatal(err)
		}
		restart()
		awaitService(t, f, name)
	}
}

func awaitOutage(t *testing.T, f *follow.Follower) {
	t.Helper()
	select {
	case why := <-f.Outages:
		if !strings.Contains(why.Error(), "the API server does not answer") && !strings.Contains(why.Error(), "the watch of") {
			t.Error(why)
		}
	case <-time.After(time.Minute):
		t.Fatal("the outage was not reported")
	}
}

func awaitService(t *testing.T, f *follow.Follower, name string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e := <-f.Events:
			if service, is := e.Object.(*corev1.Service); is && service.Name == name {
				return
			}
		case <-late:
			t.Fatalf("service %s did not arrive", name)
		}
	}
}
