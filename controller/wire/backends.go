// Package wire encodes what Lua reads, in ingress-nginx's own JSON. It stands
// between the model and the Lua in nginx, ours or a fork's. Its one rule: the
// names, the types and what is left out are the wire format's, not ours.
package wire

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// defaultSubsetSize is what ingress-nginx sends for a backend of an ingress
// that does not ask for subsets.
const defaultSubsetSize = 3

// backend is one element of POST /configuration/backends.
type backend struct {
	Name                  string             `json:"name"`
	Service               *service           `json:"service,omitempty"`
	Port                  intstr.IntOrString `json:"port"`
	SSLPassthrough        bool               `json:"sslPassthrough"`
	Endpoints             []endpoint         `json:"endpoints,omitempty"`
	SessionAffinityConfig affinity           `json:"sessionAffinityConfig"`
	UpstreamHashByConfig  hashBy             `json:"upstreamHashByConfig"`
	LoadBalance           string             `json:"load-balance,omitempty"`
	NoServer              bool               `json:"noServer"`
	TrafficShapingPolicy  trafficShaping     `json:"trafficShapingPolicy"`
}

type service struct {
	Metadata struct{}           `json:"metadata"`
	Spec     corev1.ServiceSpec `json:"spec"`
	Status   struct {
		LoadBalancer struct{} `json:"loadBalancer"`
	} `json:"status"`
}

type endpoint struct {
	Address string `json:"address"`
	Port    string `json:"port"`
}

type affinity struct {
	Name                  string `json:"name"`
	Mode                  string `json:"mode"`
	CookieSessionAffinity struct {
		Name string `json:"name"`
	} `json:"cookieSessionAffinity"`
}

type hashBy struct {
	SubsetSize int `json:"upstream-hash-by-subset-size,omitempty"`
}

type trafficShaping struct {
	Weight        int    `json:"weight"`
	WeightTotal   int    `json:"weightTotal"`
	Header        string `json:"header"`
	HeaderValue   string `json:"headerValue"`
	HeaderPattern string `json:"headerPattern"`
	Cookie        string `json:"cookie"`
}

// Backends is the body of POST /configuration/backends, in the order of the
// model. Without dynamic configuration nginx.conf has the endpoints, and Lua
// is told of no backend at all.
func Backends(m *model.Model, opts options.Options) ([]byte, error) {
	encoded := []backend{}
	if opts.DynamicConfiguration {
		for _, b := range m.Backends {
			encoded = append(encoded, encode(b))
		}
	}
	text, err := json.Marshal(encoded)
	if err != nil {
		return nil, fmt.Errorf("encoding backends: %w", err)
	}
	return text, nil
}

func encode(b *model.Backend) backend {
	out := backend{Name: b.Name, Port: b.Port, LoadBalance: b.LoadBalance}
	if b.Service != nil {
		out.Service = &service{Spec: b.Service.Spec}
	}
	for _, e := range b.Endpoints {
		out.Endpoints = append(out.Endpoints, endpoint(e))
	}
	if b.Name != model.DefaultBackendName {
		out.UpstreamHashByConfig.SubsetSize = defaultSubsetSize
	}
	return out
}
