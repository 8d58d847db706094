package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// StreamBackends is the line that tells nginx's stream block of the endpoints
// of TCP and UDP services, without its end (CR LF). It is nil where Lua does
// not balance them.
func StreamBackends(m *model.Model, opts options.Options) ([]byte, error) {
	if !opts.DynamicStream() {
		return nil, nil
	}
	encoded := []backend{}
	for _, service := range slices.Concat(m.TCPBackends, m.UDPBackends) {
		encoded = append(encoded, encode(&model.Backend{
			Name: service.Name(), Service: service.Service, Port: intstr.FromInt(service.Port), Endpoints: service.Endpoints,
		}))
	}
	text, err := json.Marshal(encoded)
	if err != nil {
		return nil, fmt.Errorf("encoding TCP and UDP backends: %w", err)
	}
	return text, nil
}
