package wire

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// StreamBackends returns the backends that are sent to the stream port, which configures the
// endpoints of TCP and UDP services in nginx's stream block. They are not sent if Lua does not
// balance them.
func StreamBackends(m *model.Model, opts options.Options) (List, error) {
	if !opts.DynamicStream() {
		return List{}, nil
	}
	var list []*Backend
	for _, service := range slices.Concat(m.TCPBackends, m.UDPBackends) {
		backend, err := encode(&model.Backend{
			Name: service.Name(), Service: service.Service, Port: intstr.FromInt(service.Port), Endpoints: service.Endpoints,
		})
		if err != nil {
			return List{}, err
		}
		list = append(list, backend)
	}
	return NewList(list...), nil
}
