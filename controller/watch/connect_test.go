package watch

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	discoveryfake "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAwaitServer(t *testing.T) {
	for name, test := range map[string]struct {
		version  string
		failures int // number of failing requests at the beginning
		want     string
	}{
		"it answers":           {"v1.35.0", 0, ""},
		"it answers at last":   {"v1.19.0", 9, ""},
		"it never answers":     {"v1.35.0", 10, "the API server does not answer: no route"},
		"it is too old":        {"v1.18.20", 0, "the API server is Kubernetes 1.18.20: 1.19.0 or newer is needed"},
		"it has no version":    {"today", 0, `the API server's version "today"`},
		"a fork's own version": {"v1.30.4+k3s1", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // pauses take no real time
				client := fake.NewClientset()
				client.Discovery().(*discoveryfake.FakeDiscovery).FakedServerVersion = &version.Info{GitVersion: test.version}
				asked := 0
				client.PrependReactor("get", "version", func(clienttesting.Action) (bool, runtime.Object, error) {
					asked++
					if asked <= test.failures {
						return true, nil, errors.New("no route")
					}
					return false, nil, nil
				})
				began := time.Now()
				err := AwaitServer(t.Context(), client, slog.New(slog.DiscardHandler))
				switch {
				case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
					t.Errorf("after %v: %v, want %q", time.Since(began), err, test.want)
				}
			})
		})
	}
}

func TestCheckReadsObjectsThatFlagsName(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "system", Name: "here"}
	here, missing := types.NamespacedName{Namespace: "system", Name: "here"}, types.NamespacedName{Namespace: "system", Name: "missing"}
	client := fake.NewClientset(&corev1.Pod{ObjectMeta: meta}, &corev1.Service{ObjectMeta: meta}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "system"}})
	for name, test := range map[string]struct {
		namespace    string
		pod, service types.NamespacedName
		want         string
	}{
		"all is there":     {"system", here, here, ""},
		"nothing is asked": {"", here, types.NamespacedName{}, ""},
		"no service":       {"", here, missing, "--default-backend-service system/missing: "},
		"no namespace":     {"elsewhere", here, here, "--watch-namespace elsewhere: "},
		"no pod":           {"", missing, here, "the controller's own pod system/missing"},
	} {
		options, own, err := CheckOptions(t.Context(), client, Options{Namespace: test.namespace}, test.pod, test.service, slog.New(slog.DiscardHandler))
		switch {
		case test.want == "" && (err != nil || own.Name != "here" || options.IgnoreClasses):
			t.Errorf("%s: %v, %v", name, own, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestOnlyForbiddenIngressClassesAreIgnored(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "system", Name: "here"}
	here := types.NamespacedName{Namespace: "system", Name: "here"}
	for _, test := range []struct {
		failure error
		ignored bool
	}{
		{apierrors.NewForbidden(schema.GroupResource{Resource: "ingressclasses"}, "", nil), true},
		{apierrors.NewInternalError(errors.New("etcd has no leader")), false},
	} {
		client := fake.NewClientset(&corev1.Pod{ObjectMeta: meta}, &corev1.Service{ObjectMeta: meta})
		client.PrependReactor("list", "ingressclasses", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, test.failure
		})
		options, _, err := CheckOptions(t.Context(), client, Options{}, here, here, slog.New(slog.DiscardHandler))
		if err != nil || options.IgnoreClasses != test.ignored {
			t.Errorf("after %v: %v, IngressClasses are ignored: %v", test.failure, err, options.IgnoreClasses)
		}
	}
}
