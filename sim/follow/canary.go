package follow

import networkingv1 "k8s.io/api/networking/v1"

// IsCanary reports whether an ingress gets only a share of the requests for another one, as ingress-nginx's
// annotation says.
func IsCanary(ingress *networkingv1.Ingress) bool {
	return ingress.Annotations["nginx.ingress.kubernetes.io/canary"] == "true"
}
