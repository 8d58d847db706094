package adapterstest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// httpRoutes is the frontend of controllers that serve the Gateway API. It serves the routes of any
// Gateway.
type httpRoutes struct {
	client dynamic.Interface
	all    cache.SharedIndexInformer
}

func gatewayResource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: name}
}

func newHTTPRoutes(config *rest.Config) (*httpRoutes, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &httpRoutes{client, dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(gatewayResource("httproutes")).Informer()}, nil
}

// httpRoute contains the fields of an HTTPRoute that a stub reads.
type httpRoute struct {
	Spec struct {
		Hostnames  []string `json:"hostnames"`
		ParentRefs []any    `json:"parentRefs"`
		Rules      []struct {
			Matches []struct {
				Path struct {
					Value string `json:"value"`
				} `json:"path"`
			} `json:"matches"`
			BackendRefs []struct {
				Name string `json:"name"`
			} `json:"backendRefs"`
		} `json:"rules"`
	} `json:"spec"`
}

func (h *httpRoutes) informer() cache.SharedIndexInformer { return h.all }

func (h *httpRoutes) rules() (rules []rule, err error) {
	for _, one := range h.all.GetStore().List() {
		object := one.(*unstructured.Unstructured)
		var route httpRoute
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &route); err != nil {
			return nil, err
		}
		if len(route.Spec.ParentRefs) == 0 {
			continue
		}
		for _, host := range route.Spec.Hostnames {
			for _, r := range route.Spec.Rules {
				for _, match := range r.Matches {
					rules = append(rules, rule{object.GetNamespace(), host, match.Path.Value, r.BackendRefs[0].Name})
				}
			}
		}
	}
	return rules, nil
}

// publish accepts all Gateways and routes. It writes the address into the status of Gateways.
func (h *httpRoutes) publish(ctx context.Context, address string) error {
	gateways, err := h.client.Resource(gatewayResource("gateways")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, gateway := range gateways.Items {
		if err := h.write(ctx, "gateways", &gateway, map[string]any{
			"addresses":  []any{map[string]any{"type": "IPAddress", "value": address}},
			"conditions": conditions("Accepted", "Programmed"),
		}); err != nil {
			return err
		}
	}
	for _, one := range h.all.GetStore().List() {
		route := one.(*unstructured.Unstructured).DeepCopy()
		parents, _, _ := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
		for i, parent := range parents {
			parents[i] = map[string]any{
				"parentRef": parent, "controllerName": "windtunnel.dev/stub", "conditions": conditions("Accepted", "ResolvedRefs"),
			}
		}
		if err := h.write(ctx, "httproutes", route, map[string]any{"parents": parents}); err != nil {
			return err
		}
	}
	return nil
}

// write writes the status of an object that has none.
func (h *httpRoutes) write(ctx context.Context, resource string, object *unstructured.Unstructured, status map[string]any) error {
	if object.Object["status"] != nil {
		return nil
	}
	object.Object["status"] = status
	_, err := h.client.Resource(gatewayResource(resource)).Namespace(object.GetNamespace()).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}

// conditions returns conditions that are true.
func conditions(names ...string) (all []any) {
	for _, name := range names {
		all = append(all, map[string]any{
			"type": name, "status": "True", "reason": name, "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z",
		})
	}
	return all
}
