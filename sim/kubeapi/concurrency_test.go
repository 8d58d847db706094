package kubeapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A patch without a version is retried until it succeeds: no patch out of many is lost.
func TestConcurrentPatches(t *testing.T) {
	t.Parallel()
	const writers, writes = 8, 20
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	if _, err := cms.Create(t.Context(), configMap("a", ""), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for i := range writers {
		kind := []types.PatchType{types.MergePatchType, types.StrategicMergePatchType}[i%2]
		writing.Go(func() {
			for j := range writes {
				patch := fmt.Sprintf(`{"data":{"%d.%d":"x"}}`, i, j)
				if _, err := cms.Patch(t.Context(), "a", kind, []byte(patch), metav1.PatchOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	cm, err := cms.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || len(cm.Data) != writers*writes {
		t.Errorf("%d keys, %v; want %d", len(cm.Data), err, writers*writes)
	}
}

// Many clients create, update and delete objects in parallel, over HTTP and from within the
// process. Every watcher sees increasing versions and a valid sequence of events for each object,
// and ends with the state that a list returns.
func TestWatchersAgree(t *testing.T) {
	t.Parallel()
	const writers, writes, names = 8, 150, 10
	s := start(t)
	c := client(t, s.Config())
	jsonOnly := s.TLSConfig()
	jsonOnly.ContentType = "application/json"
	var watching, writing sync.WaitGroup
	states := make([]map[string]string, 6)
	for i := range states {
		config := []*rest.Config{s.Config(), s.TLSConfig(), jsonOnly}[i%3]
		w, err := client(t, config).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "3"})
		if err != nil {
			t.Fatal(err)
		}
		watching.Go(func() { states[i] = replay(t, w) })
	}
	for i := range writers {
		writing.Go(func() { scribble(t, c, rand.New(rand.NewPCG(1, uint64(i))), writes, names) })
	}
	for i := range writers {
		writing.Go(func() { scribbleInProcess(t, s.Writer(), rand.New(rand.NewPCG(2, uint64(i))), writes, names) })
	}
	writing.Wait()
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("end", ""), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	watching.Wait()
	list, err := c.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, cm := range list.Items {
		want[cm.Name] = cm.ResourceVersion
	}
	for i, got := range states {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("watcher %d ends with %v, want %v as in a list", i, got, want)
		}
	}
}

// scribble makes random changes; losing a race to another writer is not a failure.
func scribble(t *testing.T, c *kubernetes.Clientset, random *rand.Rand, writes, names int) {
	cms := c.CoreV1().ConfigMaps("default")
	for range writes {
		cm := configMap("cm-"+strconv.Itoa(random.IntN(names)), strconv.Itoa(random.Int()))
		var err error
		switch random.IntN(4) {
		case 0:
			_, err = cms.Create(context.Background(), cm, metav1.CreateOptions{})
		case 1:
			err = cms.Delete(context.Background(), cm.Name, metav1.DeleteOptions{})
		default:
			_, err = cms.Update(context.Background(), cm, metav1.UpdateOptions{})
		}
		if err != nil && !errors.IsNotFound(err) && !errors.IsAlreadyExists(err) && !errors.IsConflict(err) {
			t.Error(err)
		}
	}
}

// scribbleInProcess makes the same changes in batches of a Writer.
func scribbleInProcess(t *testing.T, w Writer, random *rand.Rand, writes, names int) {
	kinds := []watch.EventType{watch.Added, watch.Deleted, watch.Modified, watch.Modified}
	for done := 0; done < writes; {
		var changes []Change
		for range 1 + random.IntN(8) {
			changes = append(changes, Change{Kind: kinds[random.IntN(4)], Object: inDefault("cm-"+strconv.Itoa(random.IntN(names)), strconv.Itoa(random.Int()))})
		}
		done += len(changes)
		_, err := w.Apply(changes)
		if err = unjoin(err); err != nil && !errors.IsNotFound(err) && !errors.IsAlreadyExists(err) && !errors.IsConflict(err) {
			t.Error(err)
		}
	}
}

// replay follows a watch until it sees the object "end", and returns the versions of the remaining
// objects.
func replay(t *testing.T, w watch.Interface) map[string]string {
	defer w.Stop()
	state, last := map[string]string{}, uint64(0)
	for e := range w.ResultChan() {
		cm, ok := e.Object.(*corev1.ConfigMap)
		if !ok {
			t.Errorf("event %+v", e)
			return nil
		}
		rv, err := strconv.ParseUint(cm.ResourceVersion, 10, 64)
		if err != nil || rv <= last {
			t.Errorf("version %s after %d, %v", cm.ResourceVersion, last, err)
		}
		last = rv
		if _, known := state[cm.Name]; known == (e.Type == watch.Added) {
			t.Errorf("%s of %s, whose existence is known: %v", e.Type, cm.Name, known)
		}
		state[cm.Name] = cm.ResourceVersion
		if e.Type == watch.Deleted {
			delete(state, cm.Name)
		}
		if cm.Name == "end" {
			return state
		}
	}
	t.Error("the watch ended")
	return nil
}

// A deletion that marks a pod succeeds even if a kubelet removes the pod as soon as it is marked.
func TestConcurrentDeletions(t *testing.T) {
	t.Parallel()
	s := startWith(t, Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), Anonymous: true, Kubelet: true})
	pods := client(t, s.Config()).CoreV1().Pods("default")
	at := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	w, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var kubelet sync.WaitGroup
	var stopped atomic.Bool
	kubelet.Go(func() {
		for e := range w.ResultChan() {
			pod, ok := e.Object.(*corev1.Pod)
			if !ok {
				if !stopped.Load() { // client-go may report the stop as an error
					t.Errorf("event %+v", e)
				}
				return
			}
			if e.Type == watch.Modified && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
				if err := pods.Delete(t.Context(), pod.Name, at); err != nil && !errors.IsNotFound(err) {
					t.Error(err)
				}
			}
		}
	})
	for i := range 200 {
		name := fmt.Sprint("p", i)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "web", Image: "web"}}}}
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := pods.Delete(t.Context(), name, at); err != nil {
			t.Errorf("deleting %s: %v", name, err)
		}
	}
	stopped.Store(true)
	w.Stop()
	kubelet.Wait()
}
