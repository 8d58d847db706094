package cluster

import (
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/custom"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// definition holds the resources that one CustomResourceDefinition adds to the server: its
// versions, each a view of base, the resource that the objects are stored as.
type definition struct {
	uid      types.UID
	base     *resource.Resource
	versions []*resource.Resource
	objects  *store.Collection
}

func (d *definition) group() string { return d.base.Group }

func (d *definition) name() string { return d.base.Name }

// watchDefinitions starts serving a definition when it is stored, and stops when it is deleted.
func (s *State) watchDefinitions() {
	s.custom.Store(newRegistry(nil))
	s.definitions = s.BuiltIn(apiextensionsv1.SchemeGroupVersion, "customresourcedefinitions")
	s.definitions.Observe(func(e store.Event) {
		next := maps.Clone(s.custom.Load().definitions)
		if next == nil {
			next = map[string]*definition{}
		}
		known := next[e.Object.Name]
		if e.Kind == watch.Deleted {
			if known != nil {
				delete(next, e.Object.Name)
				s.custom.Store(newRegistry(next))
				known.objects.Close()
			}
			return
		}
		d, err := s.define(e.Object, known)
		if err != nil || d == nil {
			return // its status already shows that it is not established
		}
		next[e.Object.Name] = d
		s.custom.Store(newRegistry(next))
	})
}

// define builds the definition of a stored CustomResourceDefinition. known is the definition before
// the change, nil for a new one. It returns nil if the names are not accepted.
func (s *State) define(o *store.Object, known *definition) (*definition, error) {
	obj, err := o.Decode()
	if err != nil {
		return nil, err
	}
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !custom.IsTrue(crd, apiextensionsv1.Established) {
		return nil, nil
	}
	d := &definition{uid: crd.UID}
	if known != nil && known.uid == crd.UID {
		d.base, d.objects = known.base, known.objects
	} else {
		d.base = custom.Base(crd)
		d.objects = store.NewCollection(d.base, &s.revision)
	}
	for i := range crd.Spec.Versions {
		if !crd.Spec.Versions[i].Served {
			continue
		}
		version, err := custom.Version(d.base, crd, &crd.Spec.Versions[i])
		if err != nil {
			return nil, err
		}
		d.versions = append(d.versions, version)
	}
	return d, nil
}
