package deploy_test

import (
	"fmt"

	"windtunnel.dev/deploy"
)

// An overlay in memory raises the replicas from two to three.
func ExampleBuild() {
	objects, err := deploy.Build("mine", map[string]string{
		"mine/kustomization.yaml": "resources: [../controller]\nreplicas: [{name: ingress-nginx-controller, count: 3}]\n",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, object := range objects {
		fmt.Println(object.GetObjectKind().GroupVersionKind().Kind)
	}
	// Output:
	// Namespace
	// ServiceAccount
	// Role
	// ClusterRole
	// RoleBinding
	// ClusterRoleBinding
	// ConfigMap
	// Service
	// Deployment
	// PodDisruptionBudget
	// IngressClass
}
