package kubeapi

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A quota holds against many clients at once, shows what is used, and allows a new object for each
// one that is deleted.
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
