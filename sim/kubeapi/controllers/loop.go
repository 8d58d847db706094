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

// workers is the number of keys that a controller handles in parallel.
const workers = 4

// loop is a work queue: it calls sync for each key that a change has queued. It never handles the
// same key twice in parallel, and it retries a key after an error. A sync that used a stale object
// fails with a conflict.
type loop struct {
	name  string
	queue workqueue.TypedRateLimitingInterface[string]
	delay time.Duration // from a change to the sync that watch queues, so that one sync handles several changes
	sync  func(ctx context.Context, key string) error
	start func(ctx context.Context) error // before the first sync; may be nil
	stop  func()                          // after the last sync; may be nil
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

// transient reports whether an error comes from a stale object or from a terminating namespace.
func transient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, "NamespaceTerminating") || errors.Is(err, errUnseen)
}

// watch queues the keys that keys returns for each changed object.
func (l *loop) watch(informer cache.SharedIndexInformer, keys func(obj metav1.Object) []string) {
	add := func(obj any) {
		for _, key := range keysOf(obj, keys) {
			l.queue.AddAfter(key, l.delay)
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

// ownKey returns the key of the object.
func ownKey(obj metav1.Object) []string { return []string{keyOf(obj.GetNamespace(), obj.GetName())} }

// controllerKey returns the key of the object's controller, if that has the given kind.
func controllerKey(kind string) func(metav1.Object) []string {
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

// ignoreNotFound ignores the NotFound error of a deletion.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
