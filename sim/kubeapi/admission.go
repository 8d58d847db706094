package kubeapi

import (
	"context"
	"encoding/json"
	stderrors "errors"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// attributes are what a webhook is asked about: one write.
type attributes struct {
	server      *Server
	request     *request
	operation   admissionv1.Operation
	namespace   string
	name        string
	object, old runtime.Object // as stored; nil where there is none
	dryRun      bool
	options     runtime.Object
}

// mutate lets the mutating webhooks change obj, which is about to be created, or
// to replace base. They see it before the server's defaults.
func (s *Server) mutate(r *request, obj runtime.Object, base *object, dryRun bool) (runtime.Object, error) {
	hooks := *s.webhooks.mutating.Load()
	if len(hooks) == 0 || exempt(r.res) {
		return obj, nil
	}
	old, err := decodeIfAny(base)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		a := s.attributesOf(r, obj, old, dryRun)
		if a == nil || !h.wants(a) {
			continue
		}
		answer, err := h.ask(r.Context(), a)
		if err != nil {
			return nil, err
		}
		if answer == nil || len(answer.Patch) == 0 {
			continue
		}
		if obj, err = a.patch(answer.Patch); err != nil {
			s.reportError(r.Request, err)
			return nil, errors.NewInternalError(err)
		}
	}
	return obj, nil
}

// admit asks the validating webhooks about a write: a creation has no base, a
// deletion no obj. The first refusal counts; all are asked at once.
func (s *Server) admit(r *request, obj runtime.Object, base *object, dryRun bool) error {
	hooks := *s.webhooks.validating.Load()
	if len(hooks) == 0 || exempt(r.res) {
		return nil
	}
	old, err := decodeIfAny(base)
	if err != nil {
		return err
	}
	a := s.attributesOf(r, obj, old, dryRun)
	if a == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answers := make(chan error)
	asked := 0
	for _, h := range hooks {
		if h.wants(a) {
			asked++
			go func() {
				_, err := attempt(errors.NewInternalError(stderrors.New("asking a webhook made the server panic")),
					func() (*admissionv1.AdmissionResponse, error) { return h.ask(ctx, a) })
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

func decodeIfAny(base *object) (runtime.Object, error) {
	if base == nil {
		return nil, nil
	}
	return base.decode()
}

// exempt says whether no webhook is asked about a resource: about webhooks, lest
// a broken one could not be removed.
func exempt(res *resource) bool { return res.group == "admissionregistration.k8s.io" }

// attributesOf is nil for a write into a namespace that is not there, which fails anyway.
func (s *Server) attributesOf(r *request, obj, old runtime.Object, dryRun bool) *attributes {
	a := &attributes{server: s, request: r, object: obj, old: old, dryRun: dryRun}
	m := old
	switch {
	case old == nil:
		a.operation, m = admissionv1.Create, obj
	case obj == nil:
		a.operation = admissionv1.Delete
	default:
		a.operation = admissionv1.Update
	}
	a.name, a.namespace = metadataOf(m).Name, metadataOf(m).Namespace
	if a.operation == admissionv1.Delete {
		a.name = r.name // of none in a collection
	}
	if !r.res.clusterScoped && s.namespaces.get(a.namespace) == nil {
		return nil
	}
	if r.res == s.namespaces.res {
		a.namespace = a.name // as kube-apiserver has it
	}
	a.options = r.options(a.operation, dryRun)
	return a
}

// review is the question, in one of the versions of admission.k8s.io.
func (a *attributes) review(version string) (*admissionv1.AdmissionReview, error) {
	res := a.request.res
	kind := metav1.GroupVersionKind(res.gvk())
	if a.request.subresource == scaleSubresource {
		kind = metav1.GroupVersionKind(scales.gvk())
	}
	resource := metav1.GroupVersionResource{Group: res.group, Version: res.version, Resource: res.name}
	q := &admissionv1.AdmissionRequest{
		UID:  uuid.NewUUID(),
		Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
		SubResource: a.request.subresource, RequestSubResource: a.request.subresource,
		Name: a.name, Namespace: a.namespace, Operation: a.operation, DryRun: &a.dryRun,
		UserInfo: a.request.user(),
		Options:  runtime.RawExtension{Object: a.options},
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

// shown is obj as JSON of the kind that was requested.
func (a *attributes) shown(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, nil
	}
	if a.request.subresource == scaleSubresource {
		return a.shownScale(obj)
	}
	res := a.request.res
	shown := res.shown(obj.DeepCopyObject())
	shown.GetObjectKind().SetGroupVersionKind(res.gvk())
	return json.Marshal(shown)
}

func (a *attributes) shownScale(obj runtime.Object) ([]byte, error) {
	scale, err := a.request.scaleOf(obj)
	if err != nil {
		return nil, err
	}
	scale.SetGroupVersionKind(scales.gvk())
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
	result, err := attempt(refusal, func() ([]byte, error) { return operations.Apply(original) })
	if err != nil {
		return nil, err
	}
	if a.request.subresource == scaleSubresource {
		scale := &autoscalingv1.Scale{}
		if err := json.Unmarshal(result, scale); err != nil {
			return nil, err
		}
		return a.object, a.request.setReplicas(a.object, scale.Spec.Replicas)
	}
	changed, _, err := decodeJSON(a.request.res, result, true)
	if err != nil {
		return nil, err
	}
	return a.request.res.stored(changed), nil
}

// options are the request's, as a webhook is told them; of a patch, those of the update that it is.
func (r *request) options(operation admissionv1.Operation, dryRun bool) runtime.Object {
	meta := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "meta.k8s.io/v1"} }
	var dry []string
	if dryRun {
		dry = []string{metav1.DryRunAll}
	}
	manager, validation := r.query.Get("fieldManager"), r.query.Get("fieldValidation")
	switch {
	case operation == admissionv1.Create:
		return &metav1.CreateOptions{TypeMeta: meta("CreateOptions"), DryRun: dry, FieldManager: manager, FieldValidation: validation}
	case operation == admissionv1.Delete:
		opts := metav1.DeleteOptions{}
		if r.deleteOptions != nil {
			opts = *r.deleteOptions
		}
		opts.TypeMeta = meta("DeleteOptions")
		return &opts
	}
	return &metav1.UpdateOptions{TypeMeta: meta("UpdateOptions"), DryRun: dry, FieldManager: manager, FieldValidation: validation}
}
