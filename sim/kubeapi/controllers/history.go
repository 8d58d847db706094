package controllers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appslisters "k8s.io/client-go/listers/apps/v1"
)

// hashLabel is the label of a ControllerRevision with the hash of its template. On pods of
// StatefulSets and DaemonSets, appsv1.ControllerRevisionHashLabelKey refers to the revision.
const hashLabel = "controller.kubernetes.io/hash"

// history keeps the ControllerRevisions of StatefulSets and DaemonSets, from which kubectl rollout
// history and undo read the earlier templates.
type history struct {
	*cluster
	revisions appslisters.ControllerRevisionLister
}

// templated is an object with a pod template and its revisions.
type templated struct {
	owner
	kind     schema.GroupVersionKind
	template *corev1.PodTemplateSpec
	limit    *int32 // of old revisions
}

// ensure returns the revision of the current template and all others, oldest first. It creates the
// revision if it is missing, and makes it the newest one if the template is back.
func (h history) ensure(ctx context.Context, t templated) (current *appsv1.ControllerRevision, old []*appsv1.ControllerRevision, err error) {
	all, err := h.of(t)
	if err != nil {
		return nil, nil, err
	}
	wanted := revisionFrom(t)
	newest := int64(0)
	for _, r := range all {
		newest = max(newest, r.Revision)
		if current == nil && bytes.Equal(r.Data.Raw, wanted.Data.Raw) {
			current = r
		} else {
			old = append(old, r)
		}
	}
	api := h.client.AppsV1().ControllerRevisions(t.GetNamespace())
	switch {
	case current == nil:
		wanted.Revision = newest + 1
		current, err = api.Create(ctx, wanted, metav1.CreateOptions{})
	case current.Revision < newest:
		current = current.DeepCopy()
		current.Revision = newest + 1
		current, err = api.Update(ctx, current, metav1.UpdateOptions{})
	}
	return current, old, err
}

// of returns the revisions of an object, oldest first.
func (h history) of(t templated) ([]*appsv1.ControllerRevision, error) {
	all, err := h.revisions.ControllerRevisions(t.GetNamespace()).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r *appsv1.ControllerRevision) bool { return !metav1.IsControlledBy(r, t) })
	slices.SortFunc(all, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// revisionFrom returns the revision of the current template. Its name contains the template's hash,
// so creating it again fails if the cache does not show it yet.
func revisionFrom(t templated) *appsv1.ControllerRevision {
	hash := templateHash(t.template, nil)
	l := maps.Clone(t.template.Labels)
	if l == nil {
		l = map[string]string{}
	}
	l[hashLabel] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.GetNamespace(), Name: t.GetName() + "-" + hash, Labels: l,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(t, t.kind)},
		},
		Data: runtime.RawExtension{Raw: templatePatch(t.template)},
	}
}

// templatePatch returns the strategic merge patch that restores a template.
func templatePatch(template *corev1.PodTemplateSpec) []byte {
	text, err := json.Marshal(template)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err == nil {
		fields["$patch"] = "replace"
		text, err = json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
	}
	if err != nil {
		panic(fmt.Sprintf("controllers: a pod template is not JSON: %v", err)) // it was decoded from JSON
	}
	return text
}

// templateOf returns the template of a revision.
func templateOf(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var patch struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(r.Data.Raw, &patch); err != nil {
		return nil, fmt.Errorf("reading revision %s: %w", r.Name, err)
	}
	return &patch.Spec.Template, nil
}

// prune deletes the oldest revisions that nothing uses, beyond the history limit.
func (h history) prune(ctx context.Context, t templated, old []*appsv1.ControllerRevision, used func(*appsv1.ControllerRevision) bool) error {
	unused := slices.DeleteFunc(slices.Clone(old), used)
	if t.limit == nil {
		return nil
	}
	for _, r := range unused[:max(0, len(unused)-int(*t.limit))] {
		err := h.client.AppsV1().ControllerRevisions(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{})
		if ignoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
