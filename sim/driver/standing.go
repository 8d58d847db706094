package driver

import (
	"context"
	"crypto/x509"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/behave"
)

// Standing is a driver of a single controller that already runs, and that others may use as well.
// It starts nothing but pods, and has one instance at a time, whose type is Shared. It ignores the
// flags of subjects.
type Standing interface {
	Driver
	// UnsupportedCase returns why a case cannot run there; empty: it can.
	UnsupportedCase(c *behave.Case) string
	// Room returns how many pods of cases can run at the same time; 0: any number.
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
	// DefaultCertificate returns the certificate that nginx serves to clients that ask for an
	// unknown host, or nil if it is not known.
	DefaultCertificate() *x509.Certificate
}

// Objects writes objects to a cluster, as cluster.Client does.
type Objects interface {
	Put(ctx context.Context, object *unstructured.Unstructured) (version string, err error)
	Delete(ctx context.Context, object *unstructured.Unstructured) error
	Namespaced(object *unstructured.Unstructured) (bool, error)
}
