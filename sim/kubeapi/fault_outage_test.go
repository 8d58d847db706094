package kubeapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/fault"
)

// After an outage the informer retries refused connections with a backoff and without a new list.
// It lists once, if the history is lost and the informer's version is no longer the newest.
func TestInformerSurvivesOutage(t *testing.T) {
	for name, test := range map[string]struct {
		fault fault.Fault
		want  string
	}{
		"restart with history": {fault.Restart(0, true), "WATCH+"},
		"restart":              {fault.Restart(0, false), "WATCH+ WATCHLIST"},
		"crash":                {fault.Crash(0), "WATCH+ WATCHLIST"},
		"short restart":        {fault.Restart(time.Millisecond, false), "WATCH+ WATCHLIST"},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " TLS"}[secure], func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				if secure {
					r.over(r.s.TLSConfig())
				}
				r.follow()
				r.elsewhere()
				url := r.s.URL()
				stop := r.inject(test.fault, fault.Scope{})
				if h := r.hit(test.fault.Name); h.Version != r.s.state.Version() || h.Error != "" {
					t.Errorf("logged as %+v", h)
				}
				if name != "short restart" {
					if _, err := r.operator.Get(t.Context(), "first", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "refused") {
						t.Errorf("while it is down: %v", err)
					}
				}
				stop()
				if r.s.URL() != url {
					t.Errorf("the server returned at %s, want %s", r.s.URL(), url)
				}
				r.settled()
				r.asked(test.want)
			})
		}
	}
}

// Closing a server that is down succeeds, and it stays down.
func TestCloseWhileDown(t *testing.T) {
	r := newRig(t)
	stop := r.inject(fault.Crash(0), fault.Scope{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.s.Close(ctx); err != nil {
		t.Error(err)
	}
	stop()
	if _, err := r.operator.Get(t.Context(), "first", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("after Close: %v", err)
	}
}

// After a compaction, resuming watches, next pages and exact lists get 410. Open
// watches do not notice it.
func TestCompaction(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.follow()
	page, err := r.operator.List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil || page.Continue == "" {
		t.Fatalf("page %+v, %v", page.ListMeta, err)
	}
	r.create("third")
	r.sees("third")
	r.elsewhere()
	r.inject(fault.Compaction(), fault.Scope{Resources: []string{"configmaps"}})
	_, err = r.operator.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) || status.Status().ListMeta.Continue == "" {
		t.Errorf("the second page: %v; want 410 and a token to continue inconsistently", err)
	} else if rest, err := r.operator.List(t.Context(), metav1.ListOptions{Continue: status.Status().ListMeta.Continue}); err != nil || len(rest.Items) != 2 {
		t.Errorf("the rest: %v, %v", rest, err)
	}
	_, err = r.operator.List(t.Context(), metav1.ListOptions{ResourceVersion: page.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("an exact list: %v; want 410", err)
	}
	if list, err := client(t, r.s.Config()).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{ResourceVersion: "3", ResourceVersionMatch: metav1.ResourceVersionMatchExact}); err != nil || len(list.Items) != 2 {
		t.Errorf("of another resource: %v, %v", list, err)
	}
	if got := r.sent.kinds(); len(got) != 0 {
		t.Errorf("the open watch ended: %v", got)
	}
	r.inject(fault.ClosedWatch(), fault.Scope{Count: 1})
	r.settled()
	r.asked("WATCH WATCHLIST")
}

// Only new handshakes see a new certificate. With a new CA, clients with the old CA refuse the
// certificate until the fault is healed.
func TestCertificateRotation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.over(r.s.TLSConfig())
	r.follow()
	get := func() (serial string, err error) {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(r.subject.CAData)
		conn, err := tls.Dial("tcp", strings.TrimPrefix(r.s.TLSURL(), "https://"), &tls.Config{RootCAs: roots})
		if err != nil {
			return "", err
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
	}
	first, err := get()
	if err != nil {
		t.Fatal(err)
	}
	r.inject(fault.CertificateRotation(false), fault.Scope{})
	second, err := get()
	if err != nil || second == first {
		t.Errorf("after a rotation: serial %s after %s, %v", second, first, err)
	}
	stop := r.inject(fault.CertificateRotation(true), fault.Scope{})
	if _, err := get(); err == nil || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
		t.Errorf("with an unknown CA: %v", err)
	}
	if config := r.s.TLSConfig(); string(config.CAData) == string(r.subject.CAData) {
		t.Error("the server does not return its new CA")
	}
	stop()
	if third, err := get(); err != nil || third != second {
		t.Errorf("after healing: serial %s, %v", third, err)
	}
	r.settled()
	r.asked("") // the informer's connection stayed open all the time
}
