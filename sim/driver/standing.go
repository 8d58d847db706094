package driver

import (
	"context"
	"crypto/x509"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/behave"
)

// Standing is a driver of one controller that runs already, and that others may use as well. It
// starts nothing but pods, and has one instance at a time, whose type is Shared. The flags of
// subjects do not matter to it.
type Standing interface {
	Driver
	// UnsupportedCase returns why a case cannot run there; empty: it can.
	UnsupportedCase(c *behave.Case) string
	// Room returns for how many pods of cases there is room at the same time; 0: for any number.
	Room() int
}

// Shared is an instance in a cluster that others use as well.
type Shared interface {
	Instance
	// Objects writes the run's objects, and refuses to write those of others.
	Objects() Objects
	// Namespace returns the name of a namespace that belongs to the run.
	Namespace() string
	// Class returns the name of the controller's IngressClass.
	Class() string
	// Replicas returns how many controllers may answer at the instance's address.
	Replicas() int
	// DefaultCertificate returns what nginx serves to clients that ask for an unknown host; nil: it
	// is not known.
	DefaultCertificate() *x509.Certificate
}

// Objects writes objects to a cluster, as cluster.Client does.
type Objects interface {
	Put(ctx context.Context, object *unstructured.Unstructured) (version string, err error)
	Delete(ctx context.Context, object *unstructured.Unstructured) error
	Namespaced(object *unstructured.Unstructured) (bool, error)
}
