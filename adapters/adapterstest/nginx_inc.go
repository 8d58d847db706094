package adapterstest

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/command"
)

// NGINXIncStub is the program name under which a test binary acts as a stub of NGINX Inc's
// controller.
const NGINXIncStub = "nginx-inc-stub"

// NGINX is the path at which the stub expects nginx, as in the image of the controller.
const NGINX = "/usr/sbin/nginx"

// runNGINXInc is a stub of NGINX Inc's controller. It supports only in-cluster configuration, needs
// the IngressClass at its start, and reloads an nginx for each change.
func runNGINXInc(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(NGINXIncStub, flag.ContinueOnError)
	configMap, class := flags.String("nginx-configmaps", "", "namespace/name"), flags.String("ingress-class", "nginx", "its name")
	port, ready := flags.String("default-http-listener-port", "80", "where to serve"), flags.String("ready-status-port", "8081", "where to tell of health")
	flags.String("default-https-listener-port", "443", "")
	for _, name := range []string{"report-ingress-status", "nginx-status", "enable-custom-resources", "enable-telemetry-reporting"} {
		flags.Bool(name, true, "")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := checkClass(ctx, *class); err != nil {
		return err
	}
	data, err := configMapOf(ctx, "", *configMap)
	if err != nil {
		return err
	}
	proxy, end := runningNginx(*port)
	defer end()
	told := false
	from := source{address: data["external-status-address"]}
	return from.follow(ctx, func(routes []Route) error {
		if err := proxy.apply(ctx, routes); err != nil || told {
			return err
		}
		told = true
		return tellHealth(ctx, net.JoinHostPort("127.0.0.1", *ready), "/nginx-ready")
	})
}

// checkClass returns an error unless the class exists and is that of NGINX Inc's controller.
func checkClass(ctx context.Context, name string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	class, err := client.NetworkingV1().IngressClasses().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if class.Spec.Controller != "nginx.org/ingress-controller" {
		return fmt.Errorf("the class %s is that of %s", name, class.Spec.Controller)
	}
	return nil
}

// runningNginx returns an nginx that the controller starts as its child, and reloads with nginx -s reload.
func runningNginx(port string) (n *nginx, end func()) {
	var process *os.Process
	n = &nginx{
		address: net.JoinHostPort("127.0.0.1", port),
		conf:    "/etc/nginx/conf.d/stub.conf", socket: "/var/lib/nginx/nginx-config-version.sock",
		reloaded: func() {},
	}
	n.reload = func(ctx context.Context) error {
		if process != nil {
			out, err := command.New(ctx, NGINX, "-s", "reload", "-e", "stderr").CombinedOutput()
			if err != nil {
				return fmt.Errorf("nginx -s reload: %w: %s", err, out)
			}
			return nil
		}
		if err := os.WriteFile("/etc/nginx/nginx.conf", []byte(mainConf), 0o644); err != nil {
			return err
		}
		starting := command.New(context.WithoutCancel(ctx), NGINX, "-e", "stderr")
		starting.Stdout, starting.Stderr = os.Stdout, os.Stderr
		err := starting.Start()
		process = starting.Process
		return err
	}
	return n, func() {
		if process != nil {
			_ = process.Signal(syscall.SIGQUIT)
			_, _ = process.Wait()
		}
	}
}

// mainConf is nginx.conf. The workers run as root, because only root can read some of the files.
const mainConf = `daemon off;
user root;
pid /var/lib/nginx/nginx.pid;
error_log stderr;
worker_processes 2;
events {}
http {
  access_log off;
  server_names_hash_bucket_size 256;
  include /etc/nginx/conf.d/*.conf;
}
`
