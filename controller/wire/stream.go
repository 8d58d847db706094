package wire

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// StreamBackends are what the line to the stream port says, which tells nginx's
// stream block of the endpoints of TCP and UDP services. They are nil where Lua
// does not balance them.
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
