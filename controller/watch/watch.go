// Package watch follows the cluster and reports changes. It stands between the Kubernetes API and
// the sync: informers fill the Store, their events become numbered changes in a Ring, and the Queue
// turns changes into calls of the sync. Its one rule: an event only triggers a sync; the sync
// decides what to do from the Store as it is when the sync runs, so lost and merged events do no
// harm.
package watch

import (
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Options select the part of the cluster that this controller serves. The fields are
// ingress-nginx's flags of the same names.
type Options struct {
	Namespace         string                 // the only namespace; "" means all
	NamespaceSelector labels.Selector        // only namespaces with these labels; nil means all
	ConfigMaps        []types.NamespacedName // the controller's own: options, TCP services, UDP services
	// DefaultCertificate is the Secret with the default certificate; empty means none.
	DefaultCertificate types.NamespacedName

	IngressClass    string // the value of the annotation kubernetes.io/ingress.class
	ControllerClass string // IngressClass.spec.controller
	ClassByName     bool   // serve the class named IngressClass, regardless of its controller
	WithoutClass    bool   // serve ingresses without a class
	IgnoreClasses   bool   // do not read IngressClasses, because RBAC forbids it

	DisableCatchAll bool // reject an ingress with spec.defaultBackend
	DeepInspect     bool // reject an ingress whose fields look like nginx directives
	// Reads reports whether the configuration depends on a ConfigMap. Its changes then trigger a
	// sync, like those of ConfigMaps. nil means none.
	Reads func(types.NamespacedName) bool
	// ReadsSecret does the same for Secrets, in addition to those that ingresses name.
	ReadsSecret func(types.NamespacedName) bool
	// Accept checks an ingress's annotations against the present ConfigMap. An error rejects this
	// version of the ingress. If denied is not empty, it is the reason why requests get 503. nil
	// accepts all ingresses.
	Accept            func(*networkingv1.Ingress) (denied string, err error)
	DisableSyncEvents bool // record no Event "Sync" on ingresses

	Resync time.Duration // how often informers resend all objects; 0 means never
}
