package controllers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// workers is how many keys a controller works on at once.
const workers = 4

// loop brings keys from what has changed to the function that sees to them. It
// works on one key at a time only once, and again if that failed: a sync that
// acted on an old view fails with a conflict.
type loop struct {
	name  string
	queue workqueue.TypedRateLimitingInterface[string]
	sync  func(ctx context.Context, key string) error
	start func(ctx context.Context) error // before the first sync; may be nil
	stop  func()                          // after the last; may be nil
}

func newLoop(sync func(ctx context.Context, key string) error) *loop {
	limits := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 5*time.Second)
	return &loop{queue: workqueue.NewTypedRateLimitingQueue(limits), sync: sync}
}

func (l *loop) run(ctx context.Context) {
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	l.queue.ShutDown()
	wait.Wait()
	if l.stop != nil {
		l.stop()
	}
}

func (l *loop) next(ctx context.Context) bool {
	key, over := l.queue.Get()
	if over {
		return false
	}
	defer l.queue.Done(key)
	err := l.sync(ctx, key)
	if err == nil || ctx.Err() != nil {
		l.queue.Forget(key)
		return true
	}
	if !transient(err) {
		klog.FromContext(ctx).Error(err, "sync failed, will be tried again", "controller", l.name, "key", key)
	}
	l.queue.AddRateLimited(key)
	return true
}

// transient errors are those of an old view, and of a namespace that ends.
func transient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, "NamespaceTerminating") || errors.Is(err, errUnseen)
}

// watch queues the keys that each change of an object is about.
func (l *loop) watch(informer cache.SharedIndexInformer, keys func(obj metav1.Object) []string) {
	add := func(obj any) {
		for _, key := range keysOf(obj, keys) {
			l.queue.Add(key)
		}
	}
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(old, obj any) { add(old); add(obj) },
		DeleteFunc: add,
	})
}

func keysOf(obj any, keys func(obj metav1.Object) []string) []string {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	if m, ok := obj.(metav1.Object); ok {
		return keys(m)
	}
	return nil
}

// itself is the key of an object.
func itself(obj metav1.Object) []string { return []string{keyOf(obj.GetNamespace(), obj.GetName())} }

// itsController is the key of the object, of a kind, that controls another.
func itsController(kind string) func(metav1.Object) []string {
	return func(obj metav1.Object) []string {
		if owner := metav1.GetControllerOfNoCopy(obj); owner != nil && owner.Kind == kind {
			return []string{keyOf(obj.GetNamespace(), owner.Name)}
		}
		return nil
	}
}

func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func splitKey(key string) (namespace, name string) {
	if before, after, ok := strings.Cut(key, "/"); ok {
		return before, after
	}
	return "", key
}

// gone turns the error of not finding what is to be deleted into none.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
