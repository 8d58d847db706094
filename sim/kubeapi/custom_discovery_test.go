package kubeapi

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

func discoverer(t testing.TB, s *Server) *discovery.DiscoveryClient {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A RESTMapper, as every controller-runtime program has one, finds a kind as soon
// as it is defined, by aggregated and by legacy discovery.
func TestMapperFindsCustomKinds(t *testing.T) {
	t.Parallel()
	s := start(t)
	aggregated := discoverer(t, s)
	legacy := discoverer(t, s)
	legacy.UseLegacyDiscovery = true
	for name, c := range map[string]*discovery.DiscoveryClient{"aggregated": aggregated, "legacy": legacy} {
		t.Run(name, func(t *testing.T) {
			mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c))
			kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
			if _, err := mapper.RESTMapping(kind); !meta.IsNoMatchError(err) {
				t.Fatalf("before its definition: %v", err)
			}
			define(t, s, widgetDefinition)
			mapper.Reset() // controller-runtime's mapper does this by itself
			mapping, err := mapper.RESTMapping(kind)
			if err != nil || mapping.Resource != widgets || mapping.Scope.Name() != meta.RESTScopeNameNamespace {
				t.Errorf("mapping %+v, %v", mapping, err)
			}
			if mapping, err := mapper.RESTMapping(kind, "v1beta1"); err != nil || mapping.Resource.Version != "v1beta1" {
				t.Errorf("mapping %+v, %v", mapping, err)
			}
			short := restmapper.NewShortcutExpander(mapper, memory.NewMemCacheClient(c), nil)
			if gvr, err := short.ResourceFor(schema.GroupVersionResource{Resource: "wd"}); err != nil || gvr != widgets {
				t.Errorf("short name: %v, %v", gvr, err)
			}
			if err := definitions(t, s).ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Both forms of discovery return the same information about every group.
func TestDiscoveryFormsAgree(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	legacy := discoverer(t, s)
	legacy.UseLegacyDiscovery = true
	groups, lists, err := legacy.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	aggregatedGroups, aggregatedLists, err := discoverer(t, s).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	groupNames := func(groups []*metav1.APIGroup) (names []string) {
		for _, g := range groups {
			names = append(names, g.Name+" "+g.PreferredVersion.Version)
		}
		slices.Sort(names)
		return names
	}
	resourceNames := func(lists []*metav1.APIResourceList) (names []string) {
		for _, l := range lists {
			for _, r := range l.APIResources {
				names = append(names, l.GroupVersion+" "+r.Name+" "+r.Kind)
			}
		}
		slices.Sort(names)
		return names
	}
	if a, b := groupNames(groups), groupNames(aggregatedGroups); !slices.Equal(a, b) {
		t.Errorf("groups %v, aggregated %v", a, b)
	}
	a, b := resourceNames(lists), resourceNames(aggregatedLists)
	if !slices.Equal(a, b) {
		t.Errorf("resources %v, aggregated %v", a, b)
	}
	for _, want := range []string{"example.com/v1 widgets Widget", "example.com/v1 widgets/scale Scale", "batch/v1 jobs Job"} {
		if !slices.Contains(a, want) {
			t.Errorf("%q is missing in %v", want, a)
		}
	}
	if slices.Contains(a, "example.com/v1beta1 widgets/scale Scale") {
		t.Error("v1beta1 has a scale that it does not declare")
	}
}

func TestCustomScale(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	c := dynamicClient(t, s.Config()).Resource(widgets).Namespace("default")
	if _, err := c.Create(t.Context(), widget("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"status":{"replicas":2,"selector":"app=a"}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	resolver := scale.NewDiscoveryScaleKindResolver(discoverer(t, s))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoverer(t, s)))
	scales, err := scale.NewForConfig(s.Config(), mapper, dynamic.LegacyAPIPathResolverFunc, resolver)
	if err != nil {
		t.Fatal(err)
	}
	got, err := scales.Scales("default").Get(t.Context(), widgets.GroupResource(), "a", metav1.GetOptions{})
	if err != nil || got.Spec.Replicas != 1 || got.Status.Replicas != 2 || got.Status.Selector != "app=a" {
		t.Fatalf("scale %+v, %v", got, err)
	}
	stale := got.DeepCopy()
	stale.ResourceVersion = "1"
	if _, err := scales.Scales("default").Update(t.Context(), widgets.GroupResource(), stale, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		t.Errorf("an update of another version: %v", err)
	}
	got.Spec.Replicas = 5
	if got, err = scales.Scales("default").Update(t.Context(), widgets.GroupResource(), got, metav1.UpdateOptions{}); err != nil || got.Spec.Replicas != 5 {
		t.Errorf("updated %+v, %v", got, err)
	}
	patched, err := scales.Scales("default").Patch(t.Context(), widgets, "a", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{})
	if err != nil || patched.Spec.Replicas != 7 {
		t.Errorf("patched %+v, %v", patched, err)
	}
	if _, err := scales.Scales("default").Patch(t.Context(), widgets, "a", types.MergePatchType, []byte(`{"spec":{"replicas":-1}}`), metav1.PatchOptions{}); !errors.IsInvalid(err) {
		t.Errorf("below zero: %v", err)
	}
	obj, err := c.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || nested(t, obj, "spec", "replicas") != int64(7) || obj.GetGeneration() != 3 {
		t.Errorf("object %v, %v", obj, err)
	}
}
