// Package rule reads the rules of the controller, which are files in testdata: a cluster and
// options, optionally a change of either, and the expected results. It stands between these files
// and the tests of the stages. Its one rule: only tests import it.
package rule

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

// Flags are the command-line flags that a rule can set.
type Flags struct {
	DynamicConfiguration  *bool  `json:"dynamic-configuration"`
	DefaultBackendService string `json:"default-backend-service"`
	DefaultSSLCertificate string `json:"default-ssl-certificate"`
	EnableSSLPassthrough  bool   `json:"enable-ssl-passthrough"`
	DisableExternalNames  bool   `json:"disable-svc-external-name"`
	Zone                  string `json:"zone"` // zone of the node, with --enable-topology-aware-routing
	TCPServices           string `json:"tcp-services-configmap"`
	UDPServices           string `json:"udp-services-configmap"`
	StreamLua             bool   `json:"stream-lua"` // not a flag: whether nginx has the module
}

// Options returns the options for the flags and a ConfigMap's data, and the problems in that data.
func Options(f Flags, data map[string]string) (options.Options, []options.Problem) {
	config, problems := options.Parse(data, options.Defaults(2, false))
	stream := options.PlainStream
	if f.StreamLua {
		stream = options.LuaStream
	}
	return options.Options{
		Config:                config,
		DynamicConfiguration:  f.DynamicConfiguration == nil || *f.DynamicConfiguration,
		DisableExternalNames:  f.DisableExternalNames,
		Zone:                  f.Zone,
		DefaultBackendService: named(f.DefaultBackendService),
		TCPServices:           named(f.TCPServices),
		UDPServices:           named(f.UDPServices),
		Stream:                stream,
		Ports:                 options.DefaultPorts,
		DefaultCertificate:    fakeCertificate(),
		DefaultSSLCertificate: named(f.DefaultSSLCertificate),
		EnableSSLPassthrough:  f.EnableSSLPassthrough,
	}, problems
}

func named(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// fakeCertificate is created once. Its digest is the same in all golden files.
var fakeCertificate = sync.OnceValue(func() *tls.Pair {
	pair, err := tls.Fake(time.Now())
	if err != nil {
		panic(err)
	}
	pair.SHA = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	return pair
})

// Overlay is the source Under with additional objects from Over, which replace those of the same
// kind and name.
type Overlay struct{ Under, Over snapshot.Source }

func (o Overlay) Ingresses() []*networkingv1.Ingress {
	return merge(o.Under.Ingresses(), o.Over.Ingresses())
}
func (o Overlay) Services() []*corev1.Service { return merge(o.Under.Services(), o.Over.Services()) }
func (o Overlay) EndpointSlices() []*discoveryv1.EndpointSlice {
	return merge(o.Under.EndpointSlices(), o.Over.EndpointSlices())
}
func (o Overlay) Secrets() []*corev1.Secret { return merge(o.Under.Secrets(), o.Over.Secrets()) }
func (o Overlay) ConfigMaps() []*corev1.ConfigMap {
	return merge(o.Under.ConfigMaps(), o.Over.ConfigMaps())
}

func merge[T metav1.Object](under, over []T) []T {
	byName := make(map[types.NamespacedName]T)
	for _, object := range append(slices.Clone(under), over...) {
		byName[snapshot.NameOf(object)] = object
	}
	return slices.Collect(maps.Values(byName)) // a source has no order
}
