package ownership

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/internal/codec"
)

// Apply returns the result of a server-side apply to old. judge decides whether the apply fails
// because of problems with its fields.
func (a Tracker) Apply(old runtime.Object, patch []byte, manager string, force bool, judge func(problems []error) error) (runtime.Object, error) {
	m, err := fieldManager(a.Resource, a.Subresource)
	if err != nil {
		return nil, err
	}
	intent := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(patch, &intent.Object); err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if levels := codec.Depth(intent.Object); levels > codec.MaxDepth {
		return nil, errors.NewBadRequest(codec.ErrTooDeep(levels).Error())
	}
	live, err := toFields(a.Resource, old.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	merged, err := m.Apply(live, intent, manager, force)
	if err != nil {
		return nil, err
	}
	obj, problems, err := fromFields(a.Resource, merged)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if err := judge(problems); err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	return obj, nil
}
