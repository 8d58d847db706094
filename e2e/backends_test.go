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

// drain is how long a terminating backend pod still serves requests: longer than nginx needs to get
// the new endpoints.
const drain = 10 * time.Second

// namespace creates a namespace for a spec and removes it after the spec. It removes the ingresses
// first, so that their hosts do not conflict with those of other specs.
func namespace(ctx context.Context, name string) string {
	here.put(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	DeferCleanup(func(ctx context.Context) {
		Expect(here.client.NetworkingV1().Ingresses(name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		Expect(here.client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	}, NodeTimeout(time.Minute))
	return name
}

// backend creates a Deployment of simulated pods and its Service, and waits for the pods.
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

// route returns an ingress from a host and path to a service.
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

// annotated returns a change that sets an annotation of the controller.
func annotated(name, value string) func(*networkingv1.Ingress) {
	return func(i *networkingv1.Ingress) { i.Annotations["nginx.ingress.kubernetes.io/"+name] = value }
}

// restart makes a Deployment replace all its pods, as `kubectl rollout restart` does.
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
		return err // perhaps a conflict: Eventually tries again
	}).WithContext(ctx).Should(Succeed())
}

// answer is the relevant part of a response.
type answer struct {
	status  int
	service string
}

// ask sends one request over a new connection. headers are pairs of names and values.
func ask(ctx context.Context, host, path string, headers ...string) (answer, error) {
	return askBy(ctx, &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
		"http://"+here.listener(ctx, "http").String()+path, host, headers...)
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

// awaitServed waits until both controllers route a host and path to a service. A request reaches
// either of them, so several requests in a row must succeed.
func awaitServed(ctx context.Context, host, path, service string) {
	EventuallyWithOffset(1, func(g Gomega) {
		for range 20 {
			got, err := ask(ctx, host, path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(answer{http.StatusOK, service}))
		}
	}).WithContext(ctx).Should(Succeed())
}
