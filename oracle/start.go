package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"windtunnel.dev/sim/kubeapi"
)

// The versions that real/go.mod builds. The simulated server reports the first one, too.
const (
	realVersion = "v1.36.3"
	etcdVersion = "v3.6.8"
)

const adminToken = "oracle"

const nameOfReal = "real"

// startOurs starts the simulated server in this process.
func startOurs(version string) (*server, func(), error) {
	s, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Version: version, ServiceAccounts: true, Token: adminToken + "-of-the-simulated-server"})
	if err != nil {
		return nil, nil, err
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Close(ctx)
	}
	return &server{name: "ours", url: s.URL(), token: s.Config().BearerToken, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}, stop, nil
}

// startReal starts etcd and kube-apiserver from the folder bin, with their data in dir. Admission
// plugins that need other parts of a cluster are off.
func startReal(ctx context.Context, bin, dir string) (*server, func(), error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, nil, err
	}
	if err := writeKeys(dir); err != nil {
		return nil, nil, err
	}
	etcdURL, peerURL := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	file := func(name string) string { return filepath.Join(dir, name) }
	etcd, err := launch(dir, filepath.Join(bin, "etcd"),
		"--data-dir="+file("etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL, "--initial-cluster=default="+peerURL)
	if err != nil {
		return nil, nil, err
	}
	api, err := launch(dir, filepath.Join(bin, "kube-apiserver"),
		"--etcd-servers="+etcdURL, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+ports[2],
		"--cert-dir="+file("certs"), "--token-auth-file="+file("tokens.csv"), "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local", "--service-account-key-file="+file("sa.key"), "--service-account-signing-key-file="+file("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/12", "--endpoint-reconciler-type=none",
		"--disable-admission-plugins=DefaultTolerationSeconds,Priority,TaintNodesByCondition",
		"--enable-priority-and-fairness=false")
	if err != nil {
		etcd.stop()
		return nil, nil, err
	}
	stop := func() { api.stop(); etcd.stop() }
	s := &server{name: nameOfReal, url: "https://127.0.0.1:" + ports[2], token: adminToken, programs: []*program{api, etcd}}
	if err := s.waitReady(ctx, filepath.Join(file("certs"), "apiserver.crt")); err != nil {
		stop()
		return nil, nil, fmt.Errorf("%w; its log is in %s", err, dir)
	}
	return s, stop, nil
}

// waitReady waits until the server has created its certificate, and then until it is ready.
func (s *server) waitReady(ctx context.Context, certificate string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for tick := time.Tick(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready in two minutes", s.name)
		case <-tick:
		}
		if s.client == nil {
			pemBytes, err := os.ReadFile(certificate)
			roots := x509.NewCertPool()
			if err != nil || !roots.AppendCertsFromPEM(pemBytes) {
				continue
			}
			s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{RootCAs: roots}}}
		}
		req, err := newSession(s, "", nil).request(ctx, step{verb: "GET", target: "/readyz"})
		if err != nil {
			return err
		}
		if resp, err := s.client.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

func writeKeys(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("creating the key for service accounts: %w", err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := os.WriteFile(filepath.Join(dir, "sa.key"), pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(adminToken+",admin,admin,system:masters\n"), 0o600)
}

func freePorts(n int) ([]string, error) {
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer l.Close() // only when the function returns, so that the ports differ
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports, nil
}
