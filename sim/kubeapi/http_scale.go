package kubeapi

import (
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

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
	scale, err := r.res.scaleOf(obj)
	if err != nil {
		return err
	}
	shown, err := scales.seal(scale, o.rv)
	if err != nil {
		return err
	}
	as := *r
	as.res = scales
	as.form, as.written = r.codec, nil // neither rows nor a view
	return respond(w, &as, http.StatusOK, shown)
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
	return s.respondRescaled(w, r, opts, func(old *autoscalingv1.Scale, owners account) (runtime.Object, error) {
		return owners.own(nil, old, body.DeepCopyObject(), opts.manager)
	})
}

func (s *Server) patchScale(w http.ResponseWriter, r *request) error {
	mediaType, body, opts, err := readPatch(r)
	if err != nil {
		return err
	}
	if types.PatchType(mediaType) == types.ApplyYAMLPatchType {
		return s.respondRescaled(w, r, opts, func(old *autoscalingv1.Scale, owners account) (runtime.Object, error) {
			return r.applied(w, owners, old, body, opts)
		})
	}
	p, err := parsePatch(types.PatchType(mediaType), body)
	if err != nil {
		return err
	}
	return s.respondRescaled(w, r, opts, func(old *autoscalingv1.Scale, owners account) (runtime.Object, error) {
		next, err := p.patched(scales, old.DeepCopy(), laxly(r), judge(w, r))
		if err != nil {
			return nil, err
		}
		return owners.own(nil, old, next, opts.manager)
	})
}

// respondRescaled changes the replicas of the workload that r names, by changing its Scale.
func (s *Server) respondRescaled(w http.ResponseWriter, r *request, opts writeOptions, change rescaling) error {
	o, err := s.state.rescale(&r.operation, opts, change)
	if err != nil {
		return err
	}
	return respondScale(w, r, o)
}
