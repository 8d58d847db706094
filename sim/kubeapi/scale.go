package kubeapi

import (
	"fmt"
	"net/http"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// The scale subresource shows a workload as what an autoscaler and kubectl scale
// care about: how many replicas it wants and has.

const scaleSubresource = "scale"

// scales is the kind of the scale subresource. It is in no table: nothing is stored as one.
var scales = &resource{group: "autoscaling", version: "v1", name: "scales", kind: "Scale"}

// workload is the part of a kind with a scale that a Scale shows.
type workload struct {
	meta     *metav1.ObjectMeta
	selector *metav1.LabelSelector
	wanted   **int32 // spec.replicas
	has      int32
}

// workloadOf relies on all these kinds having the same names for the same things, but for
// the selector of the oldest, which is nothing but labels.
func workloadOf(obj runtime.Object) workload {
	spec, status := reflect.ValueOf(obj).Elem().FieldByName("Spec"), statusOf(obj)
	return workload{
		meta:     metadataOf(obj),
		selector: selectorOf(spec.FieldByName("Selector").Interface()),
		wanted:   spec.FieldByName("Replicas").Addr().Interface().(**int32),
		has:      status.FieldByName("Replicas").Interface().(int32),
	}
}

func selectorOf(value any) *metav1.LabelSelector {
	if labels, old := value.(map[string]string); old {
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	return value.(*metav1.LabelSelector)
}

// scaleOf shows obj, which is of res, as a Scale.
func (r *request) scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	if c, ok := obj.(*customObject); ok {
		return r.res.custom.scale.of(c), nil
	}
	w := workloadOf(obj)
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: w.meta.Name, Namespace: w.meta.Namespace, UID: w.meta.UID,
			ResourceVersion: w.meta.ResourceVersion, CreationTimestamp: w.meta.CreationTimestamp},
		Spec:   autoscalingv1.ScaleSpec{Replicas: 1},
		Status: autoscalingv1.ScaleStatus{Replicas: w.has, Selector: selector.String()},
	}
	if *w.wanted != nil {
		scale.Spec.Replicas = **w.wanted
	}
	return scale, nil
}

// setReplicas gives obj the replicas that its Scale wants.
func (r *request) setReplicas(obj runtime.Object, replicas int32) error {
	if c, ok := obj.(*customObject); ok {
		return r.res.custom.scale.set(c, replicas)
	}
	*workloadOf(obj).wanted = &replicas
	return nil
}

// replicasPath is the field that a Scale sets.
func (r *request) replicasPath() fieldpath.Path {
	var path fieldpath.Path
	names := []string{"spec", "replicas"}
	if r.res.custom != nil {
		names = r.res.custom.scale.specReplicas
	}
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// asScale is r as a request about Scales.
func (r *request) asScale() *request {
	as := *r
	as.res = scales
	return &as
}

// serveScale answers all requests about a scale subresource.
func (s *Server) serveScale(w http.ResponseWriter, r *request) error {
	switch r.Method {
	case http.MethodGet:
		o := r.objects.get(r.key())
		if o == nil {
			return r.notFound()
		}
		return respondScale(w, r, o)
	case http.MethodPut:
		return s.updateScale(w, r)
	case http.MethodPatch:
		return s.patchScale(w, r)
	}
	return errMethod()
}

func respondScale(w http.ResponseWriter, r *request, o *object) error {
	obj, err := o.decode()
	if err != nil {
		return err
	}
	scale, err := r.scaleOf(obj)
	if err != nil {
		return err
	}
	shown, err := scales.seal(scale, o.rv)
	if err != nil {
		return err
	}
	as := r.asScale()
	as.form, as.written = r.codec, nil // neither rows nor a view
	return respond(w, as, http.StatusOK, shown)
}

func (s *Server) updateScale(w http.ResponseWriter, r *request) error {
	body, err := readShown(w, r, scales)
	if err != nil {
		return err
	}
	opts, err := r.updateOptions()
	if err != nil {
		return err
	}
	return s.rescale(w, r, opts, func(old *autoscalingv1.Scale) (runtime.Object, error) {
		return r.asScale().own(nil, old, body.DeepCopyObject(), opts.manager)
	})
}

func (s *Server) patchScale(w http.ResponseWriter, r *request) error {
	mediaType, body, opts, err := readPatch(r)
	if err != nil {
		return err
	}
	if types.PatchType(mediaType) == types.ApplyYAMLPatchType {
		return s.rescale(w, r, opts, func(old *autoscalingv1.Scale) (runtime.Object, error) {
			return r.asScale().applied(w, old, body, opts)
		})
	}
	p, err := parsePatch(types.PatchType(mediaType), body)
	if err != nil {
		return err
	}
	return s.rescale(w, r, opts, func(old *autoscalingv1.Scale) (runtime.Object, error) {
		next, err := p.patched(w, r, scales, old.DeepCopy())
		if err != nil {
			return nil, err
		}
		return r.asScale().own(nil, old, next, opts.manager)
	})
}

// rescale changes the replicas of the workload that r names, by changing its Scale.
func (s *Server) rescale(w http.ResponseWriter, r *request, opts writeOptions, change func(*autoscalingv1.Scale) (runtime.Object, error)) error {
	main := *r // what is written is the workload itself, and no answer
	o, err := s.modify(&main, opts.dryRun, (*object).decode, func(_ *object, old runtime.Object) (runtime.Object, error) {
		return r.scaled(old, change)
	})
	if err != nil {
		return err
	}
	return respondScale(w, r, o)
}

// scaled returns old with the replicas, and their owners, of its changed Scale.
func (r *request) scaled(old runtime.Object, change func(*autoscalingv1.Scale) (runtime.Object, error)) (runtime.Object, error) {
	next := old.DeepCopyObject()
	m, gv := metadataOf(next), r.res.groupVersion()
	owners := managedfields.NewScaleHandler(m.ManagedFields, gv, managedfields.ResourcePathMappings{gv.String(): r.replicasPath()})
	before, err := r.scaleOf(old)
	if err != nil {
		return nil, err
	}
	if before.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, fmt.Errorf("reading who owns the replicas: %w", err)
	}
	changed, err := change(before)
	if err != nil {
		return nil, err
	}
	scale := changed.(*autoscalingv1.Scale)
	if err := r.validateScale(scale, m.UID); err != nil {
		return nil, err
	}
	if err := r.setReplicas(next, scale.Spec.Replicas); err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if scale.ResourceVersion != "" || !r.res.needsRV {
		m.ResourceVersion = scale.ResourceVersion
	}
	if m.ManagedFields, err = owners.ToParent(scale.ManagedFields); err != nil {
		return nil, fmt.Errorf("recording who owns the replicas: %w", err)
	}
	return next, nil
}

func (r *request) validateScale(scale *autoscalingv1.Scale, uid types.UID) error {
	if scale.Name == "" {
		return errNoName(r.name)
	}
	if scale.Name != r.name {
		return nameMismatch(scale.Name, r.name)
	}
	if scale.Namespace == "" {
		scale.Namespace = r.namespace
	}
	problems := validation.ValidateObjectMeta(&scale.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	problems = append(problems, validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))...)
	if err := invalid(scales, r.name, problems); err != nil {
		return err
	}
	if scale.UID != "" && scale.UID != uid {
		of := r.res.groupResource()
		of.Resource += "/" + scaleSubresource
		return errors.NewConflict(of, r.name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, uid))
	}
	return nil
}
