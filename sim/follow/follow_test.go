package follow_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

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

// A cluster that cannot be read is an error at once, with the reason.
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
		began := time.Now()
		_, err := follow.Start(t.Context(), config, nil)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "list ") {
			t.Errorf("want an error with %q: %v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q took %v", name, took)
		}
	}
}

// An API server that is gone for a while is reported once, although client-go tries again and again; and
// what it says afterwards arrives.
func TestOutage(t *testing.T) {
	server := start(t)
	f, err := follow.Start(t.Context(), server.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ReadInitialState(t.Context(), func(follow.Event) {}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		inject(t, server, fault.Crash(2*time.Second))
		await(t, f)
		select {
		case why := <-f.Outages:
			t.Errorf("reported again: %v", why)
		case <-time.After(3 * time.Second): // the retries of client-go begin after 0.8 s
		}
	}
}

func await(t *testing.T, f *follow.Follower) {
	t.Helper()
	select {
	case why := <-f.Outages:
		if !strings.Contains(why.Error(), "the API server does not answer") && !strings.Contains(why.Error(), "the watch of") {
			t.Error(why)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the outage was not reported")
	}
}
