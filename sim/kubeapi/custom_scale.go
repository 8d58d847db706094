package kubeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// scalePaths is where a custom object keeps what a Scale shows.
type scalePaths struct{ specReplicas, statusReplicas, selector []string }

func newScalePaths(scale *apiextensionsv1.CustomResourceSubresourceScale) *scalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	p := &scalePaths{specReplicas: split(scale.SpecReplicasPath), statusReplicas: split(scale.StatusReplicasPath)}
	if scale.LabelSelectorPath != nil && *scale.LabelSelectorPath != "" {
		p.selector = split(*scale.LabelSelectorPath)
	}
	return p
}

// of is c's Scale.
func (p *scalePaths) of(c *customObject) *autoscalingv1.Scale {
	want, _, _ := unstructured.NestedInt64(c.content, p.specReplicas...)
	have, _, _ := unstructured.NestedInt64(c.content, p.statusReplicas...)
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: scaleKind.Kind, APIVersion: scaleKind.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace, UID: c.UID,
			ResourceVersion: c.ResourceVersion, CreationTimestamp: c.CreationTimestamp},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(want)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(have)},
	}
	if p.selector != nil {
		scale.Status.Selector, _, _ = unstructured.NestedString(c.content, p.selector...)
	}
	return scale
}

// customScale answers the scale subresource of a custom resource.
func (s *Server) customScale(method string) func(http.ResponseWriter, *request) error {
	switch method {
	case http.MethodGet:
		return s.getCustomScale
	case http.MethodPut, http.MethodPatch:
		return s.setCustomScale
	}
	return nil
}

func (s *Server) getCustomScale(w http.ResponseWriter, r *request) error {
	o := r.objects.get(r.key())
	if o == nil {
		return r.notFound()
	}
	return respondCustomScale(w, r, o)
}

func respondCustomScale(w http.ResponseWriter, r *request, o *object) error {
	obj, err := o.decode()
	if err != nil {
		return err
	}
	body, err := r.codec.value(r.res.custom.scale.of(obj.(*customObject)))
	if err != nil {
		return err
	}
	write(w, r.Request, r.codec.mediaType(), http.StatusOK, body)
	return nil
}

func (s *Server) setCustomScale(w http.ResponseWriter, r *request) error {
	change, err := readScaleChange(r)
	if err != nil {
		return err
	}
	dryRun, err := r.dryRun(nil)
	if err != nil {
		return err
	}
	paths := r.res.custom.scale
	o, err := s.modify(r, dryRun, (*object).decode, func(old runtime.Object) (runtime.Object, error) {
		next := old.DeepCopyObject().(*customObject)
		scale, err := change(paths.of(next))
		if err != nil {
			return nil, err
		}
		if scale.Spec.Replicas < 0 {
			return nil, errors.NewInvalid(scaleKind.GroupKind(), r.name, field.ErrorList{
				field.Invalid(field.NewPath("spec", "replicas"), scale.Spec.Replicas, "should be a non-negative integer")})
		}
		next.ResourceVersion = scale.ResourceVersion
		if next.ResourceVersion == "" {
			next.ResourceVersion = metadataOf(old).ResourceVersion
		}
		return next, unstructured.SetNestedField(next.content, int64(scale.Spec.Replicas), paths.specReplicas...)
	})
	if err != nil {
		return err
	}
	return respondCustomScale(w, r, o)
}

// readScaleChange reads a Scale, or a patch of one, as a change of the current one.
func readScaleChange(r *request) (func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error), error) {
	read := readScalePut
	if r.Method == http.MethodPatch {
		read = readPatch
	}
	apply, err := read(r)
	if err != nil {
		return nil, err
	}
	return func(current *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		original, err := json.Marshal(current)
		if err != nil {
			return nil, err
		}
		result, err := apply(original, &autoscalingv1.Scale{})
		if err != nil {
			return nil, err
		}
		next := &autoscalingv1.Scale{}
		if err := json.Unmarshal(result, next); err != nil {
			return nil, errors.NewBadRequest(err.Error())
		}
		return next, nil
	}, nil
}

// readScalePut is a PUT as the patch that replaces everything.
func readScalePut(r *request) (patcher, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	mediaType, err := contentType(r, "application/json")
	if err != nil {
		return nil, err
	}
	if mediaType == protobufType {
		envelope, err := openEnvelope(body)
		if err != nil {
			return nil, err
		}
		scale := &autoscalingv1.Scale{}
		if err := scale.Unmarshal(envelope.Raw); err != nil {
			return nil, errors.NewBadRequest(fmt.Sprintf("the body is not a protobuf Scale: %v", err))
		}
		if body, err = json.Marshal(scale); err != nil {
			return nil, err
		}
	}
	return func([]byte, runtime.Object) ([]byte, error) { return body, nil }, nil
}
