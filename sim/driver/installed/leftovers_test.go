package installed

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/subject"
)

// killed begins a run and leaves it like a process that is killed: its Lease is no longer renewed. pass
// makes the Lease expire.
func killed(t *testing.T, s *site) (i *instance, pass func()) {
	t.Helper()
	i = settingsOf(t, s, map[string]string{"use-gzip": "true"})
	for _, typed := range []runtime.Object{namespace("a-case"), configMap("shop", "config", map[string]string{"use-gzip": "false", "new": "key"})} {
		if _, err := i.Objects().Put(t.Context(), object(t, typed)); err != nil {
			t.Fatal(err)
		}
	}
	i.endLease()
	i.endPods()
	i.stop.Do(func() {}) // the process cannot clean up
	return i, func() {
		t.Helper()
		leases := s.client.CoordinationV1().Leases(i.Namespace())
		lease, err := leases.Get(t.Context(), leaseName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-leaseDuration)))
		if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// The next run removes the leftovers of a killed run, and restores the ConfigMap, but not before the
// Lease of that run has expired: it may still be running.
func TestLeftoversOfAKilledRun(t *testing.T) {
	s := newSite(t)
	before := s.names(t)
	dead, pass := killed(t, s)

	next := s.prepare(t)
	_, err := next.Objects().Put(t.Context(), object(t, namespace("a-case")))
	mustFail(t, err, "run "+dead.run+" created it; if that run is over: kubectl delete namespaces,ingressclasses -l windtunnel.dev/case-run="+dead.run)
	if notice := strings.Join(s.notices, "\n"); !strings.Contains(notice, "run "+dead.run+" is under way, or was killed") {
		t.Errorf("told %s", notice)
	}
	if err := next.Stop(t.Context()); err != nil {
		t.Error(err)
	}

	pass()
	s.notices = nil
	after := s.prepare(t)
	if notice := strings.Join(s.notices, "\n"); !strings.Contains(notice, "removing what run "+dead.run+" left behind") {
		t.Errorf("told %s", notice)
	}
	if got, want := s.data(t), map[string]string{"use-gzip": "true"}; !maps.Equal(got, want) {
		t.Errorf("the ConfigMap has %v, want %v", got, want)
	}
	if err := after.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if names := s.names(t); !slices.Equal(names, before) {
		t.Errorf("%v is left", names)
	}
}

// Without the permission to restore the ConfigMap, the backup is kept.
func TestBackupIsKept(t *testing.T) {
	s := newSite(t)
	dead, pass := killed(t, s)
	pass()
	s.options.ConfigMap = types.NamespacedName{}
	_, err := s.open(t).Prepare(t.Context(), subject.Subject{}, options())
	mustFail(t, err, "restore it by a run with --config-map=shop/config")
	if names := s.names(t); !slices.Contains(names, "Namespace "+dead.Namespace()) || slices.Contains(names, "Namespace a-case") {
		t.Errorf("left are %v", names)
	}
}
