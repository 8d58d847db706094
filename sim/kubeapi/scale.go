package kubeapi

import (
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/patch"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// serveScale answers all requests about a scale subresource.
func (s *Server) serveScale(w http.ResponseWriter, r *request) error {
	switch r.Method {
	case http.MethodGet:
		o := r.Objects.Get(r.Key())
		if o == nil {
			return r.NotFound()
		}
		return respondScale(w, r, o)
	case http.MethodPut:
		return s.updateScale(w, r)
	case http.MethodPatch:
		return s.patchScale(w, r)
	}
	return cluster.ErrMethod()
}

func respondScale(w http.ResponseWriter, r *request, o *store.Object) error {
	obj, err := o.Decode()
	if err != nil {
		return err
	}
	scale, err := r.Resource.ScaleOf(obj)
	if err != nil {
		return err
	}
	shown, err := store.Encode(resource.Scales, scale, o.Version)
	if err != nil {
		return err
	}
	as := *r
	as.Resource = resource.Scales
	as.representation, as.Written = r.codec, nil // neither rows nor a view
	return respond(w, &as, http.StatusOK, shown)
}

func (s *Server) updateScale(w http.ResponseWriter, r *request) error {
	body, err := readAs(w, r, resource.Scales)
	if err != nil {
		return err
	}
	opts, err := r.updateOptions()
	if err != nil {
		return err
	}
	return s.respondRescaled(w, r, opts, func(old *autoscalingv1.Scale, owners ownership.Tracker) (runtime.Object, error) {
		return owners.Update(nil, old, body.DeepCopyObject(), opts.Manager)
	})
}

func (s *Server) patchScale(w http.ResponseWriter, r *request) error {
	mediaType, body, opts, err := readPatch(r)
	if err != nil {
		return err
	}
	if types.PatchType(mediaType) == types.ApplyYAMLPatchType {
		return s.respondRescaled(w, r, opts, func(old *autoscalingv1.Scale, owners ownership.Tracker) (runtime.Object, error) {
			return r.applyPatch(w, owners, old, body, opts)
		})
	}
	p, err := patch.Parse(types.PatchType(mediaType), body)
	if err != nil {
		return err
	}
	return s.respondRescaled(w, r, opts, func(old *autoscalingv1.Scale, owners ownership.Tracker) (runtime.Object, error) {
		next, err := p.Apply(resource.Scales, old.DeepCopy(), ignoresFieldProblems(r), fieldProblemHandler(w, r))
		if err != nil {
			return nil, err
		}
		return owners.Update(nil, old, next, opts.Manager)
	})
}

// respondRescaled changes the replicas of the workload that r names, by changing its Scale.
func (s *Server) respondRescaled(w http.ResponseWriter, r *request, opts cluster.WriteOptions, change cluster.ScaleChange) error {
	o, err := s.state.Rescale(&r.Operation, opts, change)
	if err != nil {
		return err
	}
	return respondScale(w, r, o)
}
