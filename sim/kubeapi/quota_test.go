package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// A quota holds against concurrent clients, reports the usage, and allows a new object for each one that
// is deleted.
func TestQuotaOfObjects(t *testing.T) {
	c := client(t, start(t).Config()).CoreV1()
	_, err := c.ResourceQuotas("default").Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": quantity.MustParse("3")}}}, metav1.CreateOptions{})
	check(t, err)
	create := func(name string) error {
		_, err := c.ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	var made, refused atomic.Int32
	var clients sync.WaitGroup
	for i := range 10 {
		clients.Go(func() {
			switch err := create(fmt.Sprint("c", i)); {
			case err == nil:
				made.Add(1)
			case errors.IsForbidden(err):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	clients.Wait()
	if made.Load() != 3 || refused.Load() != 7 {
		t.Errorf("%d created, %d refused", made.Load(), refused.Load())
	}
	const want = `configmaps "more" is forbidden: exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=3, limited: count/configmaps=3`
	if err := create("more"); err == nil || err.Error() != want {
		t.Errorf("beyond the quota: %v", err)
	}
	used := func() string {
		t.Helper()
		quota, err := c.ResourceQuotas("default").Get(t.Context(), "small", metav1.GetOptions{})
		check(t, err)
		n, hard := quota.Status.Used["count/configmaps"], quota.Status.Hard["count/configmaps"]
		return n.String() + "/" + hard.String()
	}
	if got := used(); got != "3/3" {
		t.Errorf("status %s", got)
	}
	list, err := c.ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	check(t, c.ConfigMaps("default").Delete(t.Context(), list.Items[0].Name, metav1.DeleteOptions{}))
	if got := used(); got != "2/3" {
		t.Errorf("status after a deletion %s", got)
	}
	check(t, create("more"))
}

// Quotas do not limit changes from within the process, but their status follows them.
func TestQuotaStatusFollowsWriter(t *testing.T) {
	s := start(t)
	w := s.Writer()
	status := newQuota(t, client(t, s.Config()).CoreV1(), "small", corev1.ResourceQuotaSpec{Hard: hard(t, "configmaps=1,services.nodeports=2")})
	await := func(want string) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) { return status() == want, nil }); err != nil {
			t.Fatalf("got %s, want %s", status(), want)
		}
	}
	config := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	}
	_, err := w.Create(config("a"))
	check(t, err)
	await("configmaps=1/1 services.nodeports=0/2")
	_, err = w.Apply([]Change{
		{Kind: watch.Added, Object: config("b")}, {Kind: watch.Added, Object: config("c")}, {Kind: watch.Deleted, Object: config("a")},
		{Kind: watch.Added, Object: nodePortService("web", 0)},
	})
	check(t, err)
	await("configmaps=2/1 services.nodeports=1/2")
	web := nodePortService("web", 0)
	web.Spec.Type = corev1.ServiceTypeClusterIP
	_, err = w.Update(web)
	check(t, err)
	await("configmaps=2/1 services.nodeports=0/2")
	for i := range 1000 {
		_, err := w.Create(config(fmt.Sprint("many-", i)))
		check(t, err)
	}
	await("configmaps=1002/1 services.nodeports=0/2")
}

// podOf returns a pod whose only container has these requests and limits, such as "cpu=1,memory=1Gi".
func podOf(t *testing.T, name, requests, limits string) *corev1.Pod {
	t.Helper()
	list := func(text string) corev1.ResourceList {
		amounts := corev1.ResourceList{}
		for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
			resource, amount, _ := strings.Cut(one, "=")
			amounts[corev1.ResourceName(resource)] = quantity.MustParse(amount)
		}
		return amounts
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "web", Image: "web", Resources: corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}},
	}}}
}

// newQuota creates a quota, and returns a function that reads its status as "name=used/hard …".
func newQuota(t *testing.T, c typed.CoreV1Interface, name string, spec corev1.ResourceQuotaSpec) (status func() string) {
	t.Helper()
	_, err := c.ResourceQuotas("default").Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	check(t, err)
	return func() string {
		t.Helper()
		quota, err := c.ResourceQuotas("default").Get(t.Context(), name, metav1.GetOptions{})
		check(t, err)
		var parts []string
		for name, hard := range quota.Status.Hard {
			used := quota.Status.Used[name]
			parts = append(parts, fmt.Sprintf("%s=%s/%s", name, used.String(), hard.String()))
		}
		slices.Sort(parts)
		return strings.Join(parts, " ")
	}
}

func hard(t *testing.T, text string) corev1.ResourceList {
	t.Helper()
	return podOf(t, "", text, "").Spec.Containers[0].Resources.Requests
}

// A quota of CPU and memory requires requests of every container, and does not count pods that have
// ended.
func TestQuotaOfCPUAndMemory(t *testing.T) {
	c := client(t, start(t).Config()).CoreV1()
	status := newQuota(t, c, "compute", corev1.ResourceQuotaSpec{Hard: hard(t, "requests.cpu=1,memory=1Gi,limits.cpu=2,pods=9")})
	create := func(name, requests, limits string) error {
		_, err := c.Pods("default").Create(t.Context(), podOf(t, name, requests, limits), metav1.CreateOptions{})
		return err
	}
	refused := func(err error, want string) {
		t.Helper()
		if !errors.IsForbidden(err) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	refused(create("a", "cpu=100m", ""), `pods "a" is forbidden: failed quota: compute: must specify limits.cpu for: web; memory for: web`)
	check(t, create("a", "cpu=600m,memory=256Mi", "cpu=1"))
	refused(create("b", "cpu=500m,memory=1Gi", "cpu=1"), "exceeded quota: compute, requested: memory=1Gi,requests.cpu=500m, used: memory=256Mi,requests.cpu=600m, limited: memory=1Gi,requests.cpu=1")
	check(t, create("b", "memory=128Mi", "cpu=400m")) // requests default to limits
	if got, want := status(), "limits.cpu=1400m/2 memory=384Mi/1Gi pods=2/9 requests.cpu=1/1"; got != want {
		t.Errorf("status %s, want %s", got, want)
	}
	pod, err := c.Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
	check(t, err)
	pod.Status.Phase = corev1.PodSucceeded
	_, err = c.Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	check(t, err)
	if got, want := status(), "limits.cpu=400m/2 memory=128Mi/1Gi pods=1/9 requests.cpu=400m/1"; got != want {
		t.Errorf("status after a pod ended %s, want %s", got, want)
	}
}

// A quota with scopes applies to the pods that are in all of them.
func TestQuotaWithScopes(t *testing.T) {
	c := client(t, start(t).Config()).CoreV1()
	poor := newQuota(t, c, "poor", corev1.ResourceQuotaSpec{Hard: hard(t, "pods=1"), Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}})
	brief := newQuota(t, c, "brief", corev1.ResourceQuotaSpec{Hard: hard(t, "pods=1,requests.cpu=1"), Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotBestEffort}})
	urgent := newQuota(t, c, "urgent", corev1.ResourceQuotaSpec{Hard: hard(t, "pods=0"), ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
		{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"system-cluster-critical"}},
	}}})
	create := func(name, requests string, change func(*corev1.PodSpec)) error {
		pod := podOf(t, name, requests, "")
		if change != nil {
			change(&pod.Spec)
		}
		_, err := c.Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	}
	ends := func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = new(int64(60)) }
	check(t, create("poor", "", nil))
	check(t, create("lasts", "cpu=4", nil)) // in no scope
	check(t, create("ends", "cpu=1", ends))
	for name, err := range map[string]error{
		"poor":   create("poorer", "", ends),
		"brief":  create("ends-too", "cpu=1m", ends),
		"urgent": create("urgent", "cpu=1m", func(s *corev1.PodSpec) { s.PriorityClassName = "system-cluster-critical" }),
	} {
		if !errors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: "+name) {
			t.Errorf("beyond %s: %v", name, err)
		}
	}
	if got := fmt.Sprint(poor(), ", ", brief(), ", ", urgent()); got != "pods=1/1, pods=1/1 requests.cpu=1/1, pods=0/0" {
		t.Errorf("status %s", got)
	}
}

// Quotas also limit updates: of a claim's request, and of a Service's node ports.
func TestQuotaOfChanges(t *testing.T) {
	c := client(t, start(t).Config()).CoreV1()
	status := newQuota(t, c, "q", corev1.ResourceQuotaSpec{Hard: hard(t, "requests.storage=3Gi,fast.storageclass.storage.k8s.io/requests.storage=2Gi,persistentvolumeclaims=5,services.nodeports=1")})
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: new("fast"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: hard(t, "storage=2Gi")},
	}}
	_, err := c.PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{})
	check(t, err)
	claim.Name = "more"
	if _, err := c.PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{}); !errors.IsForbidden(err) ||
		!strings.HasSuffix(err.Error(), "requested: fast.storageclass.storage.k8s.io/requests.storage=2Gi,requests.storage=2Gi, used: fast.storageclass.storage.k8s.io/requests.storage=2Gi,requests.storage=2Gi, limited: fast.storageclass.storage.k8s.io/requests.storage=2Gi,requests.storage=3Gi") {
		t.Errorf("a claim beyond the quota: %v", err)
	}

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81}}}}
	service, err = c.Services("default").Create(t.Context(), service, metav1.CreateOptions{})
	check(t, err)
	service.Spec.Type = corev1.ServiceTypeNodePort
	if _, err := c.Services("default").Update(t.Context(), service, metav1.UpdateOptions{}); !errors.IsForbidden(err) || !strings.Contains(err.Error(), "requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1") {
		t.Errorf("node ports beyond the quota: %v", err)
	}
	service.Spec.Ports = service.Spec.Ports[:1]
	_, err = c.Services("default").Update(t.Context(), service, metav1.UpdateOptions{})
	check(t, err)
	if got, want := status(), "fast.storageclass.storage.k8s.io/requests.storage=2Gi/2Gi persistentvolumeclaims=1/5 requests.storage=2Gi/3Gi services.nodeports=1/1"; got != want {
		t.Errorf("status %s, want %s", got, want)
	}
}
