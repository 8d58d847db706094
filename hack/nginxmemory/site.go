package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/internal/process"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/corpus"
)

// site is a rendered cluster, and an nginx that can serve it.
type site struct {
	program *nginx.Nginx
	root    string
	conf    configuration
}

const workers = 2

// configMap is the name of the controller's ConfigMap.
var configMap = types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"}

// newSite renders a cluster of hosts below a root.
func newSite(root string, hosts int) (*site, error) {
	if err := os.Chmod(root, 0o755); err != nil { // nginx's workers may run as another user
		return nil, err
	}
	program, err := nginx.Find("")
	if err != nil {
		return nil, err
	}
	first, err := port.Free(8)
	if err != nil {
		return nil, err
	}
	config := controller.Config{
		Nginx: program, Lua: lua.FS, Log: slog.New(slog.DiscardHandler), Stderr: io.Discard,
		ConfigMap: configMap,
		Options: options.Options{Root: root, DynamicConfiguration: true, Ports: options.Ports{
			HTTP: first, HTTPS: first + 1, Default: first + 2, Status: first + 3, Stream: first + 4, Health: first + 5, Profiler: first + 6, SSLProxy: first + 7,
		}},
	}
	offline, err := controller.NewOffline(config)
	if err != nil {
		return nil, err
	}
	cluster := corpus.Generate(corpus.Shape{Namespace: "demo", Services: hosts, Pods: 2, Ingresses: hosts, Seed: 1})
	compiled, err := compile.Compile(snapshot.Take(source{cluster}), offline.Input())
	if err != nil {
		return nil, err
	}
	s := &site{program: program, root: root, conf: parse(compiled.State.Conf.String())}
	if !s.conf.isCatchAll() {
		return nil, errors.New("the first server of nginx.conf is not the catch-all host")
	}
	return s, os.WriteFile(filepath.Join(root, "etc/nginx/lua/cfg.json"), compiled.State.LuaConfig, 0o644)
}

// source is a cluster with one ConfigMap, and without Secrets.
type source struct{ corpus.Population }

func (s source) Ingresses() []*networkingv1.Ingress { return of[*networkingv1.Ingress](s) }
func (s source) Services() []*corev1.Service        { return of[*corev1.Service](s) }
func (s source) EndpointSlices() []*discoveryv1.EndpointSlice {
	return of[*discoveryv1.EndpointSlice](s)
}
func (source) Secrets() []*corev1.Secret { return nil }
func (source) ConfigMaps() []*corev1.ConfigMap {
	return []*corev1.ConfigMap{{
		ObjectMeta: metav1.ObjectMeta{Namespace: configMap.Namespace, Name: configMap.Name},
		Data:       map[string]string{"worker-processes": strconv.Itoa(workers), "bind-address": "127.0.0.1"},
	}}
}

func of[T any](s source) (found []T) {
	for _, object := range s.Objects(func(string) netip.Addr { return netip.MustParseAddr("127.0.0.1") }) {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// memory is that of a process, in bytes.
type memory struct {
	rss int64 // with all shared pages
	pss int64 // with a share of each shared page
}

// served is an nginx whose workers have started.
type served struct {
	master  memory
	workers []memory
}

// serve starts nginx with a configuration, measures it when all workers have started, and stops it.
func (s *site) serve(ctx context.Context, c configuration) (served, error) {
	file := filepath.Join(s.root, "nginx.conf")
	if err := os.WriteFile(file, []byte(c.String()), 0o600); err != nil {
		return served{}, err
	}
	master := command.New(ctx, s.program.Binary, "-c", file)
	var output bytes.Buffer
	master.Stdout, master.Stderr = &output, &output
	if err := master.Start(); err != nil {
		return served{}, err
	}
	ended := make(chan struct{})
	var end error
	go func() {
		defer close(ended)
		end = master.Wait()
	}()
	defer func() {
		_ = master.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
	}()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var children []int
	for len(children) < workers {
		select {
		case <-ended:
			return served{}, fmt.Errorf("nginx ended: %w: %s", end, output.Bytes())
		case <-ticker.C:
		}
		children = process.Children(master.Process.Pid)
	}
	return measure(master.Process.Pid, children)
}

func measure(master int, children []int) (found served, err error) {
	if found.master, err = memoryOf(master); err != nil {
		return served{}, err
	}
	for _, child := range children {
		worker, err := memoryOf(child)
		if err != nil {
			return served{}, err
		}
		found.workers = append(found.workers, worker)
	}
	return found, nil
}

func memoryOf(pid int) (memory, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return memory{}, err
	}
	rollup, err := proc.ProcSMapsRollup()
	return memory{int64(rollup.Rss), int64(rollup.Pss)}, err
}
