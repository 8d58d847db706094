// Package admission calls admission webhooks about writes. It stands between a write that is ready
// to be stored and the webhooks that may change or refuse it. Its one rule: it knows about a write
// only what its request contains, and stores nothing.
package admission

import (
	"context"
	"encoding/json"
	stderrors "errors"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/rescue"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Caller is the sender of a write.
type Caller interface {
	Context() context.Context
	User() authenticationv1.UserInfo
	// Options returns the options of the write as webhooks get them. For a patch, these are the
	// options of the update that results from it.
	Options(operation admissionv1.Operation, dryRun bool) runtime.Object
	// Warn adds a warning to the answer. It must be safe for concurrent use.
	Warn(text string)
	// Report logs err if it wraps a panic.
	Report(err error)
}

// Request describes the target of a write and its sender.
type Request struct {
	Caller
	Resource    *resource.Resource
	Subresource string
	Name        string // name in the URL; empty for a collection
}

// attributes are one write as a webhook sees it.
type attributes struct {
	Request
	namespaces  *store.Collection
	operation   admissionv1.Operation
	namespace   string
	object, old runtime.Object // as stored; old is nil on create, object is nil on delete
	dryRun      bool
	asked       runtime.Object // the options of the write
}

// Mutate lets the mutating webhooks change obj, which is about to be created or to replace base.
// They see it before the server sets defaults.
func (hs *Webhooks) Mutate(q Request, obj runtime.Object, base *store.Object, dryRun bool) (runtime.Object, error) {
	hooks := *hs.mutating.Load()
	if len(hooks) == 0 || exempt(q.Resource) {
		return obj, nil
	}
	old, err := decodeIfAny(base)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		a := hs.attributesOf(q, obj, old, dryRun)
		if a == nil || !h.wants(a) {
			continue
		}
		answer, err := hs.ask(q.Context(), h, a)
		if err != nil {
			return nil, err
		}
		if answer == nil || len(answer.Patch) == 0 {
			continue
		}
		if obj, err = a.patch(answer.Patch); err != nil {
			q.Report(err)
			return nil, errors.NewInternalError(err)
		}
	}
	return obj, nil
}

// Admit asks the validating webhooks about a write, all in parallel. A creation has no base, a
// deletion has no obj. The first refusal counts.
func (hs *Webhooks) Admit(q Request, obj runtime.Object, base *store.Object, dryRun bool) error {
	hooks := *hs.validating.Load()
	if len(hooks) == 0 || exempt(q.Resource) {
		return nil
	}
	old, err := decodeIfAny(base)
	if err != nil {
		return err
	}
	a := hs.attributesOf(q, obj, old, dryRun)
	if a == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	answers := make(chan error)
	asked := 0
	for _, h := range hooks {
		if h.wants(a) {
			asked++
			go func() {
				_, err := rescue.Call(errors.NewInternalError(stderrors.New("asking a webhook made the server panic")),
					func() (*admissionv1.AdmissionResponse, error) { return hs.ask(ctx, h, a) })
				answers <- err
			}()
		}
	}
	var refusal error
	for range asked {
		if err := <-answers; err != nil && refusal == nil {
			refusal = err
		}
	}
	return refusal
}

func decodeIfAny(base *store.Object) (runtime.Object, error) {
	if base == nil {
		return nil, nil
	}
	return base.Decode()
}

// exempt reports whether writes of a resource bypass webhooks. The configurations of webhooks do, so
// that a broken one can be removed.
func exempt(res *resource.Resource) bool { return res.Group == "admissionregistration.k8s.io" }

// attributesOf returns the write as webhooks see it. It returns nil if the namespace does not exist,
// because the write fails anyway.
func (hs *Webhooks) attributesOf(q Request, obj, old runtime.Object, dryRun bool) *attributes {
	a := &attributes{Request: q, namespaces: hs.namespaces, object: obj, old: old, dryRun: dryRun}
	m := old
	switch {
	case old == nil:
		a.operation, m = admissionv1.Create, obj
	case obj == nil:
		a.operation = admissionv1.Delete
	default:
		a.operation = admissionv1.Update
	}
	a.namespace = object.Meta(m).Namespace
	if a.operation != admissionv1.Delete { // a deletion keeps the URL's name, empty for a collection
		a.Name = object.Meta(m).Name
	}
	if !q.Resource.ClusterScoped && hs.namespaces.Get(a.namespace) == nil {
		return nil
	}
	if q.Resource == hs.namespaces.Resource {
		a.namespace = a.Name // as in kube-apiserver
	}
	a.asked = q.Options(a.operation, dryRun)
	return a
}

// review returns the AdmissionReview in one of the versions of admission.k8s.io.
func (a *attributes) review(version string) (*admissionv1.AdmissionReview, error) {
	res := a.Resource
	kind := metav1.GroupVersionKind(res.GVK())
	if a.Subresource == resource.ScaleSubresource {
		kind = metav1.GroupVersionKind(resource.Scales.GVK())
	}
	resource := metav1.GroupVersionResource{Group: res.Group, Version: res.Version, Resource: res.Name}
	q := &admissionv1.AdmissionRequest{
		UID:  uuid.NewUUID(),
		Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
		SubResource: a.Subresource, RequestSubResource: a.Subresource,
		Name: a.Name, Namespace: a.namespace, Operation: a.operation, DryRun: &a.dryRun,
		UserInfo: a.User(),
		Options:  runtime.RawExtension{Object: a.asked},
	}
	var err error
	if q.Object.Raw, err = a.shown(a.object); err != nil {
		return nil, err
	}
	if q.OldObject.Raw, err = a.shown(a.old); err != nil {
		return nil, err
	}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: admissionv1.GroupName + "/" + version}, Request: q}, nil
}

// shown returns obj as JSON of the kind that was requested.
func (a *attributes) shown(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, nil
	}
	if a.Subresource == resource.ScaleSubresource {
		return a.shownScale(obj)
	}
	res := a.Resource
	shown := res.FromStored(obj.DeepCopyObject())
	shown.GetObjectKind().SetGroupVersionKind(res.GVK())
	return json.Marshal(shown)
}

func (a *attributes) shownScale(obj runtime.Object) ([]byte, error) {
	scale, err := a.Resource.ScaleOf(obj)
	if err != nil {
		return nil, err
	}
	scale.SetGroupVersionKind(resource.Scales.GVK())
	return json.Marshal(scale)
}

// patch applies a webhook's JSON patch to the object.
func (a *attributes) patch(patch []byte) (runtime.Object, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	original, err := a.shown(a.object)
	if err != nil {
		return nil, err
	}
	refusal := errors.NewInternalError(stderrors.New("the webhook's patch cannot be applied to the object"))
	result, err := rescue.Call(refusal, func() ([]byte, error) { return operations.Apply(original) })
	if err != nil {
		return nil, err
	}
	if a.Subresource == resource.ScaleSubresource {
		scale := &autoscalingv1.Scale{}
		if err := json.Unmarshal(result, scale); err != nil {
			return nil, err
		}
		return a.object, a.Resource.SetReplicas(a.object, scale.Spec.Replicas)
	}
	changed, _, err := codec.DecodeJSON(a.Resource, result, true)
	if err != nil {
		return nil, err
	}
	return a.Resource.ToStored(changed), nil
}
