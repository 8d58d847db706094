package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/manifest"
)

// preload writes manifests to a server: first namespaces and custom kinds, which other objects
// need, then the rest, in the order of the files. It creates the namespaces that the manifests use
// and do not contain, because the output of kubectl get -A contains none, and returns their names.
func preload(ctx context.Context, config *rest.Config, manifests []manifest.Manifest) (created []string, err error) {
	if len(manifests) == 0 {
		return nil, nil
	}
	client, err := cluster.New(config)
	if err != nil {
		return nil, err
	}
	if created, err = createNamespaces(ctx, config, manifests); err != nil {
		return nil, err
	}
	slices.SortStableFunc(manifests, func(a, b manifest.Manifest) int { return preloadOrder(a) - preloadOrder(b) })
	for _, m := range manifests {
		err := client.Load(ctx, m.Object)
		if meta.IsNoMatchError(err) { // the kind may have been defined a moment ago
			if client, err = cluster.New(config); err == nil {
				err = client.Load(ctx, m.Object)
			}
		}
		if err != nil {
			return nil, m.At(err)
		}
	}
	return created, nil
}

// createNamespaces creates the namespaces that manifests use and neither they nor the server have.
func createNamespaces(ctx context.Context, config *rest.Config, manifests []manifest.Manifest) (created []string, err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	for _, name := range missingNamespaces(manifests) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		switch _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); {
		case err == nil:
			created = append(created, name)
		case !apierrors.IsAlreadyExists(err):
			return nil, fmt.Errorf("creating Namespace %s: %w", name, err)
		}
	}
	return created, nil
}

// missingNamespaces returns the namespaces that manifests use and do not contain, sorted.
func missingNamespaces(manifests []manifest.Manifest) []string {
	used, contained := map[string]bool{}, map[string]bool{}
	for _, m := range manifests {
		if m.Object.GetKind() == "Namespace" {
			contained[m.Object.GetName()] = true
		} else if namespace := m.Object.GetNamespace(); namespace != "" {
			used[namespace] = true
		}
	}
	maps.DeleteFunc(used, func(name string, _ bool) bool { return contained[name] })
	return slices.Sorted(maps.Keys(used))
}

// preloadOrder returns 0 for manifests that must come first, and 1 for the rest.
func preloadOrder(m manifest.Manifest) int {
	switch m.Object.GetKind() {
	case "Namespace", "CustomResourceDefinition":
		return 0
	}
	return 1
}
