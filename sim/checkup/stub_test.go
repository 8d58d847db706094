package checkup_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// The test binary is also a controller with its proxy, in the two shapes of processes that nginx does
// not have: one process that does everything, or a master that executes itself anew for each
// configuration, and starts a worker that replaces the one before.
var roles = map[string]func() error{"single": single, "controller": forking, "master": master, "worker": worker}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv("STUB_ROLE")]; ok {
		if err := role(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// routes are the addresses of pods by host.
type routes map[string]string

// proxy serves routes.
type proxy struct{ routes atomic.Pointer[routes] }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to, ok := (*p.routes.Load())[r.Host]
	if !ok {
		http.NotFound(w, r)
		return
	}
	httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: to}).ServeHTTP(w, r)
}

// listen listens on a port that several processes share.
func listen(port string) (net.Listener, error) {
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		if failed != nil {
			return failed
		}
		return err
	}}
	return shared.Listen(context.Background(), "tcp", "127.0.0.1:"+port)
}

// watch calls changed with the routes of the cluster whenever they differ, until SIGTERM.
func watch(changed func(routes) error) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.UserAgent = "stub/1"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	var last routes
	for {
		if now, err := look(client); err == nil && !reflect.DeepEqual(now, last) { // an error: the API server fails on purpose
			if err := changed(now); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-ended:
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// look reads the routes, and writes the status of ingresses.
func look(client kubernetes.Interface) (routes, error) {
	ctx := context.Background()
	classes, err := client.NetworkingV1().IngressClasses().List(ctx, metav1.ListOptions{})
	if err != nil || len(classes.Items) != 1 || classes.Items[0].Spec.Controller != os.Getenv("STUB_CLASS") {
		return nil, fmt.Errorf("no class: %w", err)
	}
	ingresses, err := client.NetworkingV1().Ingresses("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	endpoints, err := client.DiscoveryV1().EndpointSlices("").List(ctx, metav1.ListOptions{})
	if err != nil || len(endpoints.Items) == 0 {
		return nil, fmt.Errorf("no endpoints: %w", err)
	}
	slice := endpoints.Items[0]
	all := routes{}
	for _, ingress := range ingresses.Items {
		all[ingress.Spec.Rules[0].Host] = net.JoinHostPort(slice.Endpoints[0].Addresses[0], strconv.Itoa(int(*slice.Ports[0].Port)))
		if len(ingress.Status.LoadBalancer.Ingress) == 0 {
			ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: os.Getenv("STUB_PUBLISH")}}
			if _, err := client.NetworkingV1().Ingresses(ingress.Namespace).UpdateStatus(ctx, &ingress, metav1.UpdateOptions{}); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// healthy serves the health endpoint.
func healthy() {
	go http.ListenAndServe("127.0.0.1:"+os.Getenv("STUB_HEALTH"), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

// single does everything in one process.
func single() error {
	p := &proxy{}
	p.routes.Store(&routes{})
	listener, err := listen(os.Getenv("STUB_HTTP"))
	if err != nil {
		return err
	}
	go http.Serve(listener, p)
	healthy()
	return watch(func(now routes) error {
		p.routes.Store(&now)
		fmt.Println("loaded the configuration in 1ms")
		return nil
	})
}

// forking writes the routes to a file and tells the master to read it again.
func forking() error {
	file := os.Getenv("STUB_ROUTES")
	var running *os.Process
	defer func() {
		if running != nil {
			running.Kill()
		}
	}()
	healthy()
	return watch(func(now routes) error {
		text, err := json.Marshal(now)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
		if running != nil {
			fmt.Println("reloaded")
			return running.Signal(syscall.SIGUSR2)
		}
		running, err = start("master")
		return err
	})
}

// start starts this binary in another role, with the command line that all processes of the proxy have.
func start(role string) (*os.Process, error) {
	return os.StartProcess("/proc/self/exe", []string{"stub-proxy", "-W"}, &os.ProcAttr{
		Env: with("STUB_ROLE", role), Files: []*os.File{nil, os.Stdout, os.Stderr},
	})
}

// master starts a worker, tells the one before to end, and executes itself anew when it is told to.
func master() error {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGUSR2)
	// As in HAProxy, the master reads the configuration: a worker never serves a later one.
	text, err := os.ReadFile(os.Getenv("STUB_ROUTES"))
	if err != nil {
		return err
	}
	if err := os.Setenv("STUB_TEXT", string(text)); err != nil {
		return err
	}
	started, err := start("worker")
	if err != nil {
		return err
	}
	if before, _ := strconv.Atoi(os.Getenv("STUB_WORKER")); before != 0 {
		time.Sleep(200 * time.Millisecond) // until the new one listens, more or less
		syscall.Kill(before, syscall.SIGTERM)
		go syscall.Wait4(before, nil, 0, nil)
	}
	<-reload
	path, err := filepath.EvalSymlinks("/proc/self/exe")
	if err != nil {
		return err
	}
	return syscall.Exec(path, []string{"stub-proxy", "-W"}, with("STUB_WORKER", strconv.Itoa(started.Pid)))
}

// with returns the environment with another value of a variable.
func with(name, value string) []string {
	return append([]string{name + "=" + value}, slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, name+"=") })...)
}

// worker serves the routes that its master read until it is told to end, and drains for a while.
func worker() error {
	var all routes
	if err := json.Unmarshal([]byte(os.Getenv("STUB_TEXT")), &all); err != nil {
		return err
	}
	p := &proxy{}
	p.routes.Store(&all)
	listener, err := listen(os.Getenv("STUB_HTTP"))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: p}
	go server.Serve(listener)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	server.Shutdown(ctx)
	time.Sleep(300 * time.Millisecond) // drains
	return nil
}
