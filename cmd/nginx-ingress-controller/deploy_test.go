package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/deploy"
	"windtunnel.dev/deploy/deploytest"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// withAdmission returns an overlay that enables the webhook.
func withAdmission() map[string]string {
	pair := pki.New("ingress-nginx-admission").Issue("ingress-nginx-admission", []string{"ingress-nginx-admission.ingress-nginx.svc"})
	return map[string]string{
		"admission/tls.crt":          string(pair.Certificate),
		"admission/tls.key":          string(pair.Key),
		"cluster/kustomization.yaml": "resources: [../controller]\ncomponents: [../admission]\n",
	}
}

// find returns the first object of a type.
func find[T runtime.Object](t *testing.T, objects []runtime.Object) T {
	t.Helper()
	for _, object := range objects {
		if found, ok := object.(T); ok {
			return found
		}
	}
	var none T
	t.Fatalf("no %T in the manifests", none)
	return none
}

// deployedArgs returns the arguments of the Deployment, as a kubelet expands them.
func deployedArgs(t *testing.T, objects []runtime.Object) []string {
	t.Helper()
	var args []string
	for _, arg := range find[*appsv1.Deployment](t, objects).Spec.Template.Spec.Containers[0].Args {
		args = append(args, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", "ingress-nginx"))
	}
	return args
}

func TestDeployedFlags(t *testing.T) {
	for folder, over := range map[string]map[string]string{".": nil, "cluster": withAdmission()} {
		objects, err := deploy.Build(folder, over)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parseFlags(deployedArgs(t, objects))
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		var said strings.Builder
		warnIgnored(f.set, f.logger(&said))
		if said.Len() > 0 {
			t.Errorf("%s: %s", folder, &said)
		}
		if name := find[*networkingv1.IngressClass](t, objects).Spec.Controller; name != f.watch.ControllerClass {
			t.Errorf("%s: the IngressClass names controller %s, the Deployment has %s", folder, name, f.watch.ControllerClass)
		}
		pod := find[*appsv1.Deployment](t, objects).Spec.Template.Spec
		if least := int64(f.shutdownGrace + 240 + f.postShutdownGrace); *pod.TerminationGracePeriodSeconds < least {
			t.Errorf("%s: grace period of %d s, but draining may take %d s", folder, *pod.TerminationGracePeriodSeconds, least)
		}
	}
}

// TestRoles runs the controller of deploy/ from start to shutdown against an API server that
// enforces the roles of deploy/. The controller must need every permission in them, and no other.
func TestRoles(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if _, err := findNginx(""); err != nil {
		t.Skip(err)
	}
	objects, err := deploy.Build(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	root := openDir(t)
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: filepath.Join(root, "kubeapi")})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close(context.Background())
	client, err := kubernetes.NewForConfig(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a failing test waits that long
	defer cancel()
	describeDeployed(t, api, objects)
	roles := deploytest.NewAuthorizer(objects)
	stop, err := api.Inject(roles.Fault(), fault.Scope{UserAgent: "nginx-ingress-controller/"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()

	said, err := os.Create(filepath.Join(root, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	args := append(deployedArgs(t, objects), append(ports(t), "--kubeconfig="+api.Kubeconfig(), "--nginx-root="+root,
		"--status-update-interval=5", "--shutdown-grace-period=0", "--post-shutdown-grace-period=0")...)
	command := exec.CommandContext(ctx, os.Args[0], args...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Env = append(os.Environ(), beTheCommand+"=1", "POD_NAMESPACE=ingress-nginx", "POD_NAME=controller")
	command.Stderr = said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	// Wait until it has written the status, recorded an event and increased the event's count. Then
	// it has used all permissions except releasing the lease.
	ingresses := client.NetworkingV1().Ingresses("shop")
	touched := false
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		events, err := client.CoreV1().Events("shop").List(ctx, metav1.ListOptions{})
		if err != nil || len(events.Items) == 0 {
			return false, err
		}
		if !touched {
			_, err = ingresses.Patch(ctx, "shop", "application/merge-patch+json", []byte(`{"metadata":{"annotations":{"nginx.ingress.kubernetes.io/proxy-body-size":"2m"}}}`), metav1.PatchOptions{})
			touched = err == nil
			return false, err
		}
		shop, err := ingresses.Get(ctx, "shop", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		counted := false
		for _, event := range events.Items {
			counted = counted || event.Count > 1
		}
		return counted && len(shop.Status.LoadBalancer.Ingress) > 0, nil
	})
	if err != nil {
		t.Errorf("waiting for status and events: %v", err)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the controller ended with %v", err)
	}
	refused, needless := roles.Verdict()
	for _, request := range refused {
		t.Errorf("no role allows a request of the controller: %+v", request)
	}
	for _, one := range needless {
		t.Errorf("the controller never used a permission of a role: %+v", one)
	}
	if t.Failed() {
		text, _ := os.ReadFile(said.Name())
		t.Logf("log of the controller:\n%s", text)
	}
}

// describeDeployed creates the objects of deploy/ that the controller reads, a pod from the
// Deployment's template, and an ingress to serve.
func describeDeployed(t *testing.T, api *kubeapi.Server, objects []runtime.Object) {
	t.Helper()
	configMap := find[*corev1.ConfigMap](t, objects)
	configMap.Data = map[string]string{"bind-address": "127.0.0.1", "worker-processes": "2"}
	service := find[*corev1.Service](t, objects)
	template := find[*appsv1.Deployment](t, objects).Spec.Template
	class, prefix := "nginx", networkingv1.PathTypePrefix
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "shop", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	for _, object := range []runtime.Object{
		find[*corev1.Namespace](t, objects),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		find[*networkingv1.IngressClass](t, objects),
		configMap,
		service,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ingress-nginx", Name: "controller", Labels: template.Labels}, Spec: template.Spec},
		&networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"},
			Spec: networkingv1.IngressSpec{IngressClassName: &class, Rules: []networkingv1.IngressRule{{Host: "shop.example", IngressRuleValue: networkingv1.IngressRuleValue{
				HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &prefix, Backend: backend}}},
			}}}},
		},
	} {
		if _, err := api.Writer().Create(object); err != nil {
			t.Fatal(err)
		}
	}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	if _, err := api.Writer().UpdateStatus(service); err != nil {
		t.Fatal(err)
	}
}
