package quarantine_test

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/quarantine"
)

// If nginx rejects a version, the earlier one replaces it only if it protects no less.
func ExampleReplacementOf() {
	version := func(annotations ...string) *networkingv1.Ingress {
		ingress := new(networkingv1.Ingress)
		ingress.Name, ingress.Annotations = "web", make(map[string]string)
		for i := 0; i < len(annotations); i += 2 {
			ingress.Annotations["nginx.ingress.kubernetes.io/"+annotations[i]] = annotations[i+1]
		}
		return ingress
	}
	good := version()
	fmt.Println(quarantine.ReplacementOf(version("proxy-body-size", "2m"), good, "").Description)
	fmt.Println(quarantine.ReplacementOf(version("auth-url", "http://auth.example/"), good, "").Description)
	// Output:
	// its earlier version is served
	// its requests get 503, because its earlier version protects less: external authentication
}
