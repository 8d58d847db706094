package kubeapi

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// A classless Ingress gets the default class: of two with the same age, the first by name.
func TestDefaultIngressClass(t *testing.T) {
	c := client(t, start(t).Config()).NetworkingV1()
	create := func(name string, annotations map[string]string) string {
		t.Helper()
		backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
		ing, err := c.Ingresses("default").Create(t.Context(), &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
			Spec: networkingv1.IngressSpec{DefaultBackend: backend}}, metav1.CreateOptions{})
		check(t, err)
		if ing.Spec.IngressClassName == nil {
			return ""
		}
		return *ing.Spec.IngressClassName
	}
	if class := create("before", nil); class != "" {
		t.Errorf("class %s, but no class exists", class)
	}
	for name, isDefault := range map[string]string{"b": "true", "a": "true", "other": "false"} {
		_, err := c.IngressClasses().Create(t.Context(), &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name,
			Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: isDefault}}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/c"}}, metav1.CreateOptions{})
		check(t, err)
	}
	list, err := c.IngressClasses().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	want := "a"
	if a, b := list.Items[0], list.Items[1]; b.CreationTimestamp.After(a.CreationTimestamp.Time) {
		want = "b" // b was created in the next second, so it is newer
	}
	if class := create("classless", nil); class != want {
		t.Errorf("class %q, want %s", class, want)
	}
	if class := create("annotated", map[string]string{"kubernetes.io/ingress.class": "nginx"}); class != "" {
		t.Errorf("an annotated Ingress got class %s", class)
	}
}

func podWith(name, account string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{ServiceAccountName: account,
		Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

// With a controller that creates accounts, a pod needs one and gets its token. Without one, only
// the name has its default.
func TestPodsGetServiceAccounts(t *testing.T) {
	bare := client(t, start(t).Config()).CoreV1()
	pod, err := bare.Pods("default").Create(t.Context(), podWith("plain", ""), metav1.CreateOptions{})
	check(t, err)
	if pod.Spec.ServiceAccountName != "default" || len(pod.Spec.Volumes) != 0 {
		t.Errorf("without accounts: %+v", pod.Spec)
	}
	c := client(t, startWith(t, Options{HTTP: "127.0.0.1:0", Anonymous: true, ServiceAccounts: true}).Config()).CoreV1()
	_, err = c.Pods("default").Create(t.Context(), podWith("nobody", "nobody"), metav1.CreateOptions{})
	const want = `pods "nobody" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found`
	if !errors.IsForbidden(err) || err.Error() != want {
		t.Errorf("a missing account: %v", err)
	}
	made := make(chan error, 1)
	go func() { // the server waits for the account default
		_, err := c.ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}}, metav1.CreateOptions{})
		made <- err
	}()
	pod, err = c.Pods("default").Create(t.Context(), podWith("plain", ""), metav1.CreateOptions{})
	check(t, err)
	check(t, <-made)
	spec := pod.Spec
	if len(spec.Volumes) != 1 || !strings.HasPrefix(spec.Volumes[0].Name, "kube-api-access-") || spec.Containers[0].VolumeMounts[0].Name != spec.Volumes[0].Name {
		t.Errorf("token: %+v", spec)
	}
	if len(spec.ImagePullSecrets) != 1 || spec.ImagePullSecrets[0].Name != "registry" {
		t.Errorf("pull secrets %v", spec.ImagePullSecrets)
	}
}

// The simulated kubelet does not change the QoS class that the server has computed.
func TestQualityOfServiceIsKept(t *testing.T) {
	t.Parallel()
	pods := client(t, startCluster(t).Config()).CoreV1().Pods("default")
	pod := podWith("guaranteed", "")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse("1"), corev1.ResourceMemory: quantity.MustParse("1Gi")}
	_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	check(t, err)
	check(t, wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		pod, err = pods.Get(ctx, "guaranteed", metav1.GetOptions{})
		return err == nil && pod.Status.PodIP != "", err
	}))
	if pod.Status.QOSClass != corev1.PodQOSGuaranteed {
		t.Errorf("QoS class %s", pod.Status.QOSClass)
	}
}
