package kubeapi

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/fault"
)

// A healed fault returns how many requests it struck: none, if its scope covers other clients only.
func TestStruckRequests(t *testing.T) {
	r := newRig(t)
	subject := client(t, r.subject).CoreV1().ConfigMaps("default")
	for _, test := range []struct {
		scope fault.Scope
		want  int
	}{
		{fault.Scope{UserAgent: subjectAgent}, 3},
		{fault.Scope{UserAgent: "called-otherwise/"}, 0},
		{fault.Scope{Spare: "called-otherwise/"}, 3},
		{fault.Scope{Spare: subjectAgent}, 0},
		{fault.Scope{UserAgent: subjectAgent, Count: 2}, 2},
	} {
		stop, err := r.s.Inject(fault.ServerError(503, 0), test.scope)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for range 3 {
			if _, err := subject.List(t.Context(), metav1.ListOptions{}); err != nil {
				failed++
			}
		}
		if got := stop(); got != test.want || failed != test.want {
			t.Errorf("%+v: struck %d and failed %d, want %d", test.scope, got, failed, test.want)
		}
		if got := stop(); got != test.want {
			t.Errorf("%+v: healed again: struck %d", test.scope, got)
		}
	}
}

// A fault that ends the server, or all watches, counts the open watches.
func TestStruckWatches(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"restart": fault.Restart(time.Millisecond, true), "crash": fault.Crash(time.Millisecond), "ended watches": fault.EndedWatches(),
	} {
		for spare, want := range map[string]int{"": 1, subjectAgent: 0} {
			t.Run(name+", but "+spare, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.follow()
				stop, err := r.s.Inject(f, fault.Scope{Spare: spare})
				if err != nil {
					t.Fatal(err)
				}
				if got := stop(); got != want {
					t.Errorf("struck %d, want %d", got, want)
				}
				r.create("third") // the informer recovers from every fault
				r.sees("third")
				if asked := len(r.sent.kinds()); f.Name == "ended-watches" && asked != want {
					t.Errorf("it sent %d requests: %v", asked, r.sent.kinds())
				}
			})
		}
	}
}
