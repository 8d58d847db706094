package adapterstest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// NGINXGatewayStub is the program name under which a test binary acts as a stub of NGINX Gateway
// Fabric 1, whose nginx runs beside it.
const NGINXGatewayStub = "nginx-gateway-stub"

// runNGINXGateway is a stub of NGINX Gateway Fabric 1. Like the original, it serves HTTPRoutes at
// the port of the first Gateway, writes below /etc/nginx, and signals the nginx whose PID is in
// /var/run/nginx/nginx.pid.
func runNGINXGateway(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "static-mode" {
		return fmt.Errorf("want the command static-mode, have %q", args)
	}
	flags := flag.NewFlagSet(NGINXGatewayStub, flag.ContinueOnError)
	health := flags.String("health-port", "8081", "where to tell of health")
	controller, class := flags.String("gateway-ctlr-name", "", ""), flags.String("gatewayclass", "", "")
	for _, name := range []string{"metrics-disable", "leader-election-disable", "product-telemetry-disable"} {
		flags.Bool(name, false, "")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *controller == "" || *class == "" || os.Getenv("POD_IP") == "" {
		return fmt.Errorf("--gateway-ctlr-name, --gatewayclass and POD_IP must be set")
	}
	from := source{kubeconfig: os.Getenv("KUBECONFIG"), address: os.Getenv("POD_IP"), gateway: true}
	port, err := gatewayPort(ctx, from.kubeconfig)
	if err != nil {
		return err
	}
	ready := false
	proxy := &nginx{
		address: fmt.Sprintf("127.0.0.1:%d", port),
		conf:    "/etc/nginx/conf.d/http.conf", socket: "/var/run/nginx/nginx-config-version.sock",
		reload: signalNginx,
		reloaded: func() {
			fmt.Fprintln(os.Stderr, `{"level":"info","logger":"eventHandler","msg":"NGINX configuration was successfully updated"}`)
		},
	}
	return from.follow(ctx, func(routes []Route) error {
		if err := proxy.apply(ctx, routes); err != nil || ready {
			return err
		}
		ready = true
		return tellHealth(ctx, "127.0.0.1:"+*health, "/readyz")
	})
}

// gatewayPort returns the port of the first listener of a Gateway, and waits for a Gateway first.
func gatewayPort(ctx context.Context, kubeconfig string) (int64, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return 0, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	for {
		gateways, err := client.Resource(gatewayResource("gateways")).List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, err
		}
		for _, gateway := range gateways.Items {
			listeners, _, _ := unstructured.NestedSlice(gateway.Object, "spec", "listeners")
			if len(listeners) > 0 {
				port, _, err := unstructured.NestedInt64(listeners[0].(map[string]any), "port")
				return port, err
			}
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// signalNginx makes the nginx of the PID file read its configuration, and waits for that file first.
func signalNginx(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	for {
		text, err := os.ReadFile("/var/run/nginx/nginx.pid")
		if pid, invalid := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil && invalid == nil {
			return syscall.Kill(pid, syscall.SIGHUP)
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return fmt.Errorf("nginx has written no PID file: %w", ctx.Err())
		}
	}
}
