// Package watch follows the cluster and says when it changed. It stands
// between the Kubernetes API and the sync: informers fill the Store, their
// events become numbered changes in a Ring, and the Queue turns those into
// calls of the sync. Its one rule: an event is only an occasion; what a sync
// does, it decides from the Store as it stands when the sync runs, so that an
// event lost or merged loses nothing.
package watch

import (
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Options say what of the cluster is this controller's business. The fields
// are ingress-nginx's flags of the same names.
type Options struct {
	Namespace         string                 // only this one; "" is all
	NamespaceSelector labels.Selector        // only namespaces with these labels; nil is all
	ConfigMaps        []types.NamespacedName // the controller's own: of options, TCP and UDP services
	// DefaultCertificate is the Secret with the default certificate; empty is none.
	DefaultCertificate types.NamespacedName

	IngressClass    string // the value of the annotation kubernetes.io/ingress.class
	ControllerClass string // IngressClass.spec.controller
	ClassByName     bool   // an IngressClass named IngressClass is ours, too
	WithoutClass    bool   // an ingress that names no class is ours
	IgnoreClasses   bool   // IngressClasses may not be read

	DisableCatchAll bool // refuse an ingress with spec.defaultBackend
	DeepInspect     bool // refuse an ingress whose fields look like nginx directives
	// Reads says which ConfigMaps besides ConfigMaps are of interest: those that
	// the configuration was made of. nil is none.
	Reads func(types.NamespacedName) bool
	// ReadsSecret does the same for Secrets, in addition to those that ingresses name.
	ReadsSecret func(types.NamespacedName) bool
	// Check looks at an ingress's annotations as the ConfigMap now has it: an
	// error refuses this version of it, denied says why its requests will be
	// answered with 503. nil takes all.
	Check             func(*networkingv1.Ingress) (denied string, err error)
	DisableSyncEvents bool // no Event "Sync" on accepted ingresses

	Resync time.Duration // how often informers repeat all they know; 0 is never
}
