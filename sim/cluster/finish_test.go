package cluster_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// Only a write outlasts its context, and only by the grace.
func TestFinishWrites(t *testing.T) {
	t.Parallel()
	const forever = time.Hour
	for name, c := range map[string]struct {
		verb     string
		grace    time.Duration
		answered bool // the server answers after the interrupt
		want     error
	}{
		"a write":                    {"create", forever, true, nil},
		"a write without an answer":  {"create", time.Millisecond, false, context.Canceled},
		"a read":                     {"get", forever, false, context.Canceled},
		"a write after an interrupt": {"", forever, false, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Close(context.Background()) })
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			meet := fault.Fault{Name: "interrupt", Serve: func(call *fault.Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
				interrupt()
				if !c.answered {
					call.Wait(-1) // until the client has gone away
				}
				serve(w)
				return nil
			}}
			if c.verb == "" {
				interrupt()
			} else if _, err := server.Inject(meet, fault.Scope{Resources: []string{"configmaps"}, Verbs: []string{c.verb}}); err != nil {
				t.Fatal(err)
			}
			maps := kubernetes.NewForConfigOrDie(cluster.FinishWrites(server.Config(), c.grace)).CoreV1().ConfigMaps("default")
			if c.verb == "get" {
				_, err = maps.Get(ctx, "a", metav1.GetOptions{})
			} else {
				_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
