// Package wire encodes the data that Lua reads, in the JSON format of ingress-nginx. It stands
// between the model and the Lua in nginx, which is ours or a fork's. Its one rule: names, types and
// omitted fields follow ingress-nginx's format.
package wire

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/internal/blocks"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

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
	AlternativeBackends   []string           `json:"alternativeBackends,omitempty"`
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
	Name   string `json:"name"`
	Mode   string `json:"mode"`
	Cookie cookie `json:"cookieSessionAffinity"`
}

// cookie omits empty and false fields; Lua then derives the value from the request.
type cookie struct {
	Name                    string              `json:"name"`
	Expires                 string              `json:"expires,omitempty"`
	MaxAge                  string              `json:"maxage,omitempty"`
	Locations               map[string][]string `json:"locations,omitempty"`
	Secure                  bool                `json:"secure,omitempty"`
	Path                    string              `json:"path,omitempty"`
	Domain                  string              `json:"domain,omitempty"`
	SameSite                string              `json:"samesite,omitempty"`
	ConditionalSameSiteNone bool                `json:"conditional_samesite_none,omitempty"`
	ChangeOnFailure         bool                `json:"change_on_failure,omitempty"`
}

type hashBy struct {
	By         string `json:"upstream-hash-by,omitempty"`
	Subset     bool   `json:"upstream-hash-by-subset,omitempty"`
	SubsetSize int    `json:"upstream-hash-by-subset-size,omitempty"`
}

type trafficShaping struct {
	Weight        int    `json:"weight"`
	WeightTotal   int    `json:"weightTotal"`
	Header        string `json:"header"`
	HeaderValue   string `json:"headerValue"`
	HeaderPattern string `json:"headerPattern"`
	Cookie        string `json:"cookie"`
}

// Backends returns the backends for POST /configuration/backends, in the order of the model.
// Without dynamic configuration it returns an empty list, because nginx.conf has the endpoints.
func Backends(m *model.Model, opts options.Options) (List, error) {
	return new(Memo).Backends(m, opts)
}

// Memo encodes the backends of a sequence of models. It reuses the encoding of backends that are
// the same objects as in the previous model, because nobody modifies them.
type Memo struct {
	encoded blocks.Memo[*model.Backend, *Backend]
	last    List
}

// Backends returns the same as the function of that name.
func (memo *Memo) Backends(m *model.Model, opts options.Options) (List, error) {
	if !opts.DynamicConfiguration {
		return NewList(), nil
	}
	all, err := memo.encoded.Map(m.Backends.List, encode)
	if err != nil {
		return List{}, err
	}
	next := List{all: all, sent: true, size: memo.last.size}
	come, gone := blocks.Differing(all, memo.last.all)
	for _, b := range come {
		next.size += len(b.JSON)
	}
	for _, b := range gone {
		next.size -= len(b.JSON)
	}
	memo.last = next
	return next, nil
}

func encode(b *model.Backend) (*Backend, error) {
	out := backend{
		Name:                  b.Name,
		Port:                  b.Port,
		SSLPassthrough:        b.SSLPassthrough,
		SessionAffinityConfig: encodeAffinity(b.SessionAffinity),
		UpstreamHashByConfig:  hashBy(b.UpstreamHashBy),
		LoadBalance:           b.LoadBalancing,
		NoServer:              b.NoServer,
		TrafficShapingPolicy:  encodeCanary(b),
		AlternativeBackends:   b.AlternativeBackends,
	}
	if b.Service != nil {
		out.Service = &service{Spec: b.Service.Spec}
	}
	out.Endpoints = make([]endpoint, 0, len(b.Endpoints))
	for _, e := range b.Endpoints {
		out.Endpoints = append(out.Endpoints, endpoint{Address: e.Address, Port: e.Port})
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encoding backend %s: %w", b.Name, err)
	}
	return &Backend{Name: b.Name, JSON: text}, nil
}

func encodeAffinity(a model.SessionAffinity) affinity {
	c := a.Cookie
	return affinity{Name: a.Type, Mode: a.Mode, Cookie: cookie{
		Name:                    c.Name,
		Expires:                 c.Expires,
		MaxAge:                  c.MaxAge,
		Locations:               a.Locations,
		Secure:                  c.Secure != nil && *c.Secure,
		Path:                    c.Path,
		Domain:                  c.Domain,
		SameSite:                c.SameSite,
		ConditionalSameSiteNone: c.ConditionalSameSiteNone,
		ChangeOnFailure:         c.ChangeOnFailure,
	}}
}

func encodeCanary(b *model.Backend) trafficShaping {
	c := b.TrafficShapingPolicy
	return trafficShaping{
		Weight:        c.Weight,
		WeightTotal:   c.WeightTotal,
		Header:        c.Header,
		HeaderValue:   c.HeaderValue,
		HeaderPattern: c.HeaderPattern,
		Cookie:        c.Cookie,
	}
}
