package wire

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// StreamBackends returns the backends that are sent to the stream port, which configures the
// endpoints of TCP and UDP services in nginx's stream block. It returns nil if Lua does not balance
// them.
func StreamBackends(m *model.Model, opts options.Options) (List, error) {
	if !opts.DynamicStream() {
		return nil, nil
	}
	list := List{}
	for _, service := range slices.Concat(m.TCPBackends, m.UDPBackends) {
		name := service.Name()
		text, err := encode(&model.Backend{
			Name: name, Service: service.Service, Port: intstr.FromInt(service.Port), Endpoints: service.Endpoints,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, &Backend{Name: name, JSON: text})
	}
	return list, nil
}
