package checkup

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"windtunnel.dev/sim/corpus"
)

// status returns the address that the controller writes to the status of what it serves: of ingresses,
// or of Gateways.
func (c *checkup) status(ctx context.Context) (string, error) {
	client, err := dynamic.NewForConfig(c.instance.API())
	if err != nil {
		return "", err
	}
	check := ingressStatus
	if c.instance.Setup().GatewayClass != nil {
		check = func(ctx context.Context, client dynamic.Interface) (string, error) {
			return gatewayStatus(ctx, client, c.instance.Setup().Namespace)
		}
	}
	last := errors.New("no answer yet")
	for {
		address, err := check(ctx, client)
		switch {
		case err == nil:
			return address, nil
		case ctx.Err() == nil: // otherwise the end of ctx cut the request off
			last = err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %w", context.Cause(ctx), last)
		}
	}
}

// ingressName is the name of the first ingress of a checkup, and of its HTTPRoute.
const ingressName = "web-1"

func ingressStatus(ctx context.Context, client dynamic.Interface) (string, error) {
	ingress, err := client.Resource(schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}).
		Namespace(namespace).Get(ctx, ingressName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, at := range mapsAt(ingress.Object, "status", "loadBalancer", "ingress") {
		ip, _, _ := unstructured.NestedString(at, "ip")
		hostname, _, _ := unstructured.NestedString(at, "hostname")
		return ip + hostname, nil
	}
	return "", errors.New("the ingress has no address")
}

// gatewayStatus returns the address of the Gateway, once it is programmed and its HTTPRoute is accepted.
func gatewayStatus(ctx context.Context, client dynamic.Interface, gateways string) (string, error) {
	resource := schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}
	gateway, err := client.Resource(resource).Namespace(gateways).Get(ctx, corpus.IngressClass, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	resource.Resource = "httproutes"
	route, err := client.Resource(resource).Namespace(namespace).Get(ctx, ingressName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	status, _, _ := unstructured.NestedMap(gateway.Object, "status")
	if err := hold("the Gateway", status, "Accepted", "Programmed"); err != nil {
		return "", err
	}
	parents := mapsAt(route.Object, "status", "parents")
	if len(parents) == 0 {
		return "", errors.New("the HTTPRoute has no status")
	}
	if err := hold("the HTTPRoute", parents[0], "Accepted", "ResolvedRefs"); err != nil {
		return "", err
	}
	for _, at := range mapsAt(status, "addresses") {
		address, _, _ := unstructured.NestedString(at, "value")
		return address + ", and its route is accepted", nil
	}
	return "", errors.New("the Gateway has no address")
}

// hold returns an error unless conditions of a status are true.
func hold(of string, status map[string]any, conditions ...string) error {
	for _, name := range conditions {
		found := errors.New("missing")
		for _, condition := range mapsAt(status, "conditions") {
			if condition["type"] != name {
				continue
			}
			if found = nil; condition["status"] != "True" {
				found = fmt.Errorf("%v: %v: %v", condition["status"], condition["reason"], condition["message"])
			}
		}
		if found != nil {
			return fmt.Errorf("the condition %s of %s is %w", name, of, found)
		}
	}
	return nil
}

// mapsAt returns the list of mappings at a path.
func mapsAt(object map[string]any, path ...string) (all []map[string]any) {
	list, _, _ := unstructured.NestedSlice(object, path...)
	for _, item := range list {
		if one, ok := item.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}
