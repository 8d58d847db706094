package plan_test

import (
	"fmt"
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
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

// flags are those that a rule may set.
type flags struct {
	DynamicConfiguration  *bool  `json:"dynamic-configuration"`
	DefaultBackendService string `json:"default-backend-service"`
	DefaultSSLCertificate string `json:"default-ssl-certificate"`
	EnableSSLPassthrough  bool   `json:"enable-ssl-passthrough"`
	DisableExternalNames  bool   `json:"disable-svc-external-name"`
	Zone                  string `json:"zone"` // of the node, with --enable-topology-aware-routing
	TCPServices           string `json:"tcp-services-configmap"`
	UDPServices           string `json:"udp-services-configmap"`
	StreamLua             bool   `json:"stream-lua"` // not a flag: what nginx has
}

type parsed struct {
	options.Options
	findings []options.Finding
}

func parse(f flags, data map[string]string) parsed {
	config, findings := options.Parse(data, options.Defaults(2, false))
	stream := options.PlainStream
	if f.StreamLua {
		stream = options.LuaStream
	}
	return parsed{options.Options{
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
	}, findings}
}

func named(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// fakeCertificate is made once, and is the same in all golden files.
var fakeCertificate = sync.OnceValue(func() *tls.Pair {
	pair, err := tls.Fake(time.Now())
	if err != nil {
		panic(err)
	}
	pair.SHA = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	return pair
})

// overlay is the first source with the objects of the second instead of those
// of the same kind and name.
type overlay struct{ under, over snapshot.Source }

func (o overlay) Ingresses() []*networkingv1.Ingress {
	return merge(o.under.Ingresses(), o.over.Ingresses())
}
func (o overlay) Services() []*corev1.Service { return merge(o.under.Services(), o.over.Services()) }
func (o overlay) EndpointSlices() []*discoveryv1.EndpointSlice {
	return merge(o.under.EndpointSlices(), o.over.EndpointSlices())
}
func (o overlay) Secrets() []*corev1.Secret { return merge(o.under.Secrets(), o.over.Secrets()) }
func (o overlay) ConfigMaps() []*corev1.ConfigMap {
	return merge(o.under.ConfigMaps(), o.over.ConfigMaps())
}

func merge[T metav1.Object](under, over []T) []T {
	byName := make(map[types.NamespacedName]T)
	for _, object := range append(slices.Clone(under), over...) {
		byName[snapshot.NameOf(object)] = object
	}
	return slices.Collect(maps.Values(byName)) // in any order: a source has none
}

// outline is who answers what: the upstream blocks, and the locations of the
// hosts with where they pass requests to.
func outline(conf []byte) string {
	var kept []string
	inStream := false
	for line := range strings.Lines(string(conf)) {
		line = strings.TrimSpace(line)
		directive, value, _ := strings.Cut(strings.TrimRight(line, " {;"), " ")
		inStream = inStream || line == "stream {"
		switch {
		case inStream && line != "" && line != "}":
			kept = append(kept, line) // it is short
		case outlinesTLS(line):
			kept = append(kept, "  "+line)
		case directive == "upstream", directive == "server_name", directive == "server" && value != "":
			kept = append(kept, line)
		case directive == "location" && strings.Contains(line, `"`):
			kept = append(kept, "  "+line)
		case directive == "proxy_pass", line == "return 503;":
			kept = append(kept, "    "+line)
		case directive == "set" && (strings.HasPrefix(value, "$location_path") || strings.HasPrefix(value, "$proxy_upstream_name") && strings.Contains(value, "-") && !strings.Contains(value, `"-"`)):
			kept = append(kept, "    "+line)
		}
	}
	return strings.Join(kept, "\n")
}

func describe(steps []plan.Step) string {
	if len(steps) == 0 {
		return "nothing to do\n"
	}
	var text strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&text, "%s\n", step.Kind)
		for _, why := range step.Why {
			fmt.Fprintf(&text, "  %s\n", why)
		}
	}
	return text.String()
}
