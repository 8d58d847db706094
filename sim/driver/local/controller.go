package local

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/subject"
)

// Where the controller lives in its cluster: the names that ingress-nginx's
// own manifests use.
const (
	namespace = "ingress-nginx"
	podName   = "ingress-nginx-controller-0"
	nodeName  = "windtunnel"
	configMap = "ingress-nginx-controller"
	tcpPorts  = "tcp-services"
	udpPorts  = "udp-services"
)

// describeController makes the objects that ingress-nginx looks for at start:
// its own pod, the node that runs it, its ConfigMap.
func (i *instance) describeController(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(i.API())
	if err != nil {
		return err
	}
	config := maps.Clone(i.subject.Config)
	if config == nil {
		config = map[string]string{}
	}
	// Only this machine may reach it.
	config["bind-address"] = "127.0.0.1"
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: namespace} }

	core := client.CoreV1()
	steps := []func() error{
		func() error {
			_, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{})
			return err
		},
		func() error {
			pod := &corev1.Pod{ObjectMeta: meta(podName), Spec: corev1.PodSpec{
				NodeName:   nodeName,
				Containers: []corev1.Container{{Name: "controller", Image: "controller"}},
			}}
			pod.Labels = map[string]string{"app.kubernetes.io/name": "ingress-nginx"}
			_, err := core.Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(configMap), Data: config}, metav1.CreateOptions{})
			return err
		},
	}
	if len(i.room.Streams) > 0 {
		for _, name := range []string{tcpPorts, udpPorts} {
			steps = append(steps, func() error {
				_, err := core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(name), Data: i.streamPorts()}, metav1.CreateOptions{})
				return err
			})
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("describing the controller of subject %s to its API server: %w", i.subject.Name, err)
		}
	}
	return nil
}

// streamPorts gives each service of Room.Streams its port.
func (i *instance) streamPorts() map[string]string {
	data := map[string]string{}
	for n, at := range i.Streams() {
		data[strconv.Itoa(int(at.Port()))] = i.room.Streams[n]
	}
	return data
}

// controllerCommand is the command line of the controller, with the
// scenario's flags last so that they win.
func (i *instance) controllerCommand() *exec.Cmd {
	flags := map[string]string{
		"kubeconfig":                 i.api.Kubeconfig(),
		"configmap":                  namespace + "/" + configMap,
		"healthz-host":               "127.0.0.1",
		"profiling":                  "false",
		"publish-status-address":     "127.0.0.1",
		"post-shutdown-grace-period": "0",
	}
	maps.Copy(flags, i.ports)
	if len(i.room.Streams) > 0 {
		flags["tcp-services-configmap"] = namespace + "/" + tcpPorts
		flags["udp-services-configmap"] = namespace + "/" + udpPorts
	}
	binary := i.subject.Controller
	if binary == subject.Bundled {
		binary = i.driver.Bundled
		flags["nginx-root"] = i.root
		flags["log-format"] = "json"
	}
	maps.Copy(flags, i.subject.Flags)
	command := exec.Command(binary, subject.Args(flags)...)
	command.Env = append(os.Environ(), "POD_NAME="+podName, "POD_NAMESPACE="+namespace)
	return command
}

// waitHealthy returns when the controller calls itself healthy, has ended, or
// ctx is done.
func (i *instance) waitHealthy(ctx context.Context, l *life) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if i.Healthy(ctx) == nil {
			return nil
		}
		select {
		case <-l.died:
			return l.err
		case <-ctx.Done():
			return fmt.Errorf("waiting for subject %s to become healthy at %s: %w; its last words: %s", i.subject.Name, i.healthURL(), context.Cause(ctx), l.tail.Last())
		case <-ticker.C:
		}
	}
}

func (i *instance) healthURL() string {
	return "http://127.0.0.1:" + i.ports["healthz-port"] + "/healthz"
}

// Healthy asks once, and waits a second at most.
func (i *instance) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.healthURL(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", i.healthURL(), response.Status)
	}
	return nil
}
