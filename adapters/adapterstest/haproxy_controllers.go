package adapterstest

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// The program names under which a test binary acts as a stub of a controller with HAProxy. A stub
// accepts the flags and reads the files that the controller's adapter uses, and runs the same
// processes as the controller.
const (
	HAProxyIngressStub = "haproxy-ingress-stub"
	HAProxyTechStub    = "haproxytech-stub"
)

// runHAProxyIngress is a stub of HAProxy Ingress. Like the original, it takes the address of
// HAProxy from its ConfigMap, its templates from the folder rootfs of the working directory, and
// haproxy from PATH.
func runHAProxyIngress(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(HAProxyIngressStub, flag.ContinueOnError)
	var from source
	flags.StringVar(&from.kubeconfig, "kubeconfig", "", "of the API server")
	flags.StringVar(&from.address, "publish-address", "", "the address in the status of ingresses")
	configMap, health := flags.String("configmap", "", "namespace/name"), flags.String("healthz-addr", ":10254", "where to tell of health")
	prefix := flags.String("local-filesystem-prefix", "", "of the paths of its files")
	flags.Bool("enable-endpointslices-api", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat("rootfs/etc/templates/haproxy/haproxy.tmpl"); err != nil {
		return err
	}
	data, err := configMapOf(ctx, from.kubeconfig, *configMap)
	if err != nil {
		return err
	}
	if err := tellHealth(ctx, *health, "/healthz", "/readyz"); err != nil {
		return err
	}
	directory := filepath.Join(*prefix, "etc/haproxy")
	address := net.JoinHostPort(data["bind-ip-addr-http"], data["http-port"])
	return runHAProxy(ctx, from, "haproxy", address, directory, "haproxy successfully reloaded")
}

// runHAProxyTech is a stub of the controller of HAProxy Technologies outside of a cluster.
func runHAProxyTech(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(HAProxyTechStub, flag.ContinueOnError)
	var from source
	flags.StringVar(&from.kubeconfig, "kubeconfig", "", "of the API server")
	external, program := flags.Bool("external", false, "outside of a cluster"), flags.String("program", "", "the path of haproxy")
	config, host, port := flags.String("config-dir", "", ""), flags.String("ipv4-bind-address", "", ""), flags.String("http-bind-port", "", "")
	health := flags.String("controller-port", "6060", "where to tell of health")
	for _, name := range []string{"configmap", "runtime-dir", "https-bind-port", "stats-bind-port", "localpeer-port", "ingress.class", "log"} {
		flags.String(name, "", "")
	}
	flags.Bool("disable-ipv6", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*external {
		return fmt.Errorf("--external is missing")
	}
	if err := tellHealth(ctx, "127.0.0.1:"+*health, "/healthz"); err != nil {
		return err
	}
	return runHAProxy(ctx, from, *program, net.JoinHostPort(*host, *port), *config, "HAProxy reloaded")
}

func runHAProxy(ctx context.Context, from source, name, address, directory, reloaded string) error {
	program, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	return followWithHAProxy(ctx, from, &haproxy{program: program, address: address, directory: directory, reloaded: reloaded})
}

func configMapOf(ctx context.Context, kubeconfig, name string) (map[string]string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(name, "/")
	object, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return object.Data, nil
}

// tellHealth answers 200 to requests for the paths until ctx ends.
func tellHealth(ctx context.Context, address string, paths ...string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for _, path := range paths {
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	server := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { server.Close() })
	go server.Serve(l)
	return nil
}
