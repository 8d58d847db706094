package model_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Every annotation whose value the model looks up as a Secret must be marked as such, because
// package watch ignores changes of other Secrets.
func TestSecretAnnotationsAreMarked(t *testing.T) {
	secret := types.NamespacedName{Namespace: "demo", Name: "probe"}
	opts := options.Options{Config: options.Defaults(1, false)}
	opts.Config.AnnotationsRiskLevel, opts.Config.AllowSnippetAnnotations = "Critical", true
	found := 0
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			web := ingress("web", path("/", false))
			web.Annotations = map[string]string{annotations.DefaultPrefix + "/auth-type": "basic"}
			web.Annotations[annotations.DefaultPrefix+"/"+key.Name] = secret.String()
			built, _ := model.Build(snapshot.Snapshot{
				Ingresses: []*networkingv1.Ingress{web},
				Secrets:   map[types.NamespacedName]*corev1.Secret{secret: {}},
			}, opts)
			reads := built.ReadsSecret(secret)
			if reads != annotations.NamesSecret("any.prefix/"+key.Name) {
				t.Errorf("%s: the model looks up its value as a Secret: %t, but its row says %t", key.Name, reads, !reads)
			}
			if reads {
				found++
			}
		}
	}
	if found < 3 {
		t.Errorf("%d annotations name a Secret, want at least auth-secret, auth-tls-secret and proxy-ssl-secret", found)
	}
}
