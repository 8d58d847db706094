package e2e_test

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// drain is how long a backend's pod serves on when it is asked to end: longer than
// nginx takes to hear of it.
const drain = 10 * time.Second

// namespace makes one for a spec, which is removed after it. Its ingresses are
// removed first, so that no other spec's hosts are in the way of theirs.
func namespace(ctx context.Context, name string) string {
	here.put(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	DeferCleanup(func(ctx context.Context) {
		Expect(here.client.NetworkingV1().Ingresses(name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		Expect(here.client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	}, NodeTimeout(time.Minute))
	return name
}

// backend makes a Deployment of simulated pods and its Service.
func backend(ctx context.Context, namespace, name string, replicas int32) {
	about := metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}
	ready := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}
	here.put(ctx, &appsv1.Deployment{ObjectMeta: about, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: about.Labels},
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1)),
		}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: about.Labels}, Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(30)),
			AutomountServiceAccountToken:  new(false),
			Containers: []corev1.Container{{
				Name: "backend", Image: backendImage, ImagePullPolicy: corev1.PullNever,
				Args:           []string{"backend", "--namespace=" + namespace, "--service=" + name, "--drain=" + drain.String()},
				ReadinessProbe: &corev1.Probe{ProbeHandler: ready, PeriodSeconds: 1},
			}},
		}},
	}})
	here.put(ctx, &corev1.Service{ObjectMeta: about, Spec: corev1.ServiceSpec{
		Selector: about.Labels,
		Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
			{Name: "tcp", Port: 8081},
			{Name: "udp", Port: 8081, Protocol: corev1.ProtocolUDP},
		},
	}})
	here.awaitRollout(ctx, namespace, name)
}

// route is an ingress from a host to a service.
func route(namespace, name, host, path, service string, changes ...func(*networkingv1.Ingress)) *networkingv1.Ingress {
	ingress := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{}},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new("nginx"),
			Rules: []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{
					Path: path, PathType: new(networkingv1.PathTypePrefix),
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: 80}}},
				}},
			}}}},
		},
	}
	for _, change := range changes {
		change(ingress)
	}
	return ingress
}

// annotated sets an annotation of the controller's.
func annotated(name, value string) func(*networkingv1.Ingress) {
	return func(i *networkingv1.Ingress) { i.Annotations["nginx.ingress.kubernetes.io/"+name] = value }
}

// restart has a Deployment replace all its pods, as `kubectl rollout restart` does.
func restart(ctx context.Context, namespace, name string) {
	EventuallyWithOffset(1, func() error {
		d, err := here.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if d.Spec.Template.Annotations == nil {
			d.Spec.Template.Annotations = map[string]string{}
		}
		d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = time.Now().Format(time.RFC3339)
		_, err = here.client.AppsV1().Deployments(namespace).Update(ctx, d, metav1.UpdateOptions{})
		return err // a conflict, say
	}).WithContext(ctx).Should(Succeed())
}

// answer is what a host's clients get.
type answer struct {
	status  int
	service string
}

// ask asks once, over a connection of its own.
func ask(ctx context.Context, host, path string, headers ...string) (answer, error) {
	return askBy(ctx, &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
		"http://"+here.door(ctx, "http").String()+path, host, headers...)
}

func askBy(ctx context.Context, client *http.Client, url, host string, headers ...string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	request.Host = host
	for n := 0; n+1 < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	response.Body.Close()
	return answer{response.StatusCode, response.Header.Get("X-Windtunnel-Service")}, nil
}

// awaitServed returns when both controllers serve a host by a service: a request
// goes to any of them, so several in a row must.
func awaitServed(ctx context.Context, host, path, service string) {
	EventuallyWithOffset(1, func(g Gomega) {
		for range 20 {
			got, err := ask(ctx, host, path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(answer{http.StatusOK, service}))
		}
	}).WithContext(ctx).Should(Succeed())
}
