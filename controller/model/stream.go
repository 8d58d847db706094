package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Name returns ingress-nginx's name for the service's backend. Two ports of nginx that lead to the
// same service port have the same name.
func (s L4Service) Name() string {
	return strings.ToLower(string(s.Backend.Protocol)) + "-" + s.Backend.Namespace + "-" + s.Backend.Name + "-" + s.Backend.Port.String()
}

// streamSnippets returns the snippets of the ingresses, then that of the ConfigMap.
func streamSnippets(ingresses []*networkingv1.Ingress, sets map[*networkingv1.Ingress]*parsed, opts options.Options) []string {
	var all []string
	for _, ingress := range ingresses {
		all = append(all, sets[ingress].Snippets.Stream)
	}
	all = append(all, opts.Config.StreamSnippet)
	return slices.DeleteFunc(all, func(snippet string) bool { return snippet == "" })
}

// streamServices returns the services to which a ConfigMap assigns ports. It omits services without
// endpoints: nginx does not listen on their ports.
func (b *builder) streamServices(configMap types.NamespacedName, protocol corev1.Protocol) []L4Service {
	if configMap.Name == "" {
		return nil
	}
	config := b.configMap(configMap)
	switch {
	case config == nil:
		b.findConfigMap(configMap, "", "it does not exist; no %s port is served", protocol)
		return nil
	case len(config.Data) > 0 && b.options.Stream == options.NoStream:
		b.findConfigMap(configMap, "", "nginx has no stream module (in Debian: libnginx-mod-stream); no %s port is served", protocol)
		return nil
	case len(config.Data) > 0 && b.options.DynamicConfiguration && b.options.Stream == options.PlainStream && !b.options.ForeignTemplate:
		b.findConfigMap(configMap, "", "nginx has no stream-lua; each change of a %s service's endpoints causes a reload", protocol)
	}
	var services []L4Service
	for _, key := range slices.Sorted(maps.Keys(config.Data)) {
		service, err := b.streamService(configMap, key, config.Data[key], protocol)
		if err == nil {
			err = clashes(service, services)
		}
		if err != nil {
			b.findConfigMap(configMap, "data."+key, "%v; the port is not served", err)
			continue
		}
		services = append(services, service)
	}
	slices.SortFunc(services, func(x, y L4Service) int { return cmp.Compare(x.Port, y.Port) })
	return services
}

// streamService returns the service of one entry of the ConfigMap.
func (b *builder) streamService(configMap types.NamespacedName, key, value string, protocol corev1.Protocol) (L4Service, error) {
	number, err := strconv.ParseUint(key, 10, 16)
	if err != nil || number == 0 {
		return L4Service{}, errors.New("want a port from 1 to 65535")
	}
	if use := b.options.Ports.Use(int(number), protocol); use != "" {
		return L4Service{}, fmt.Errorf("the controller uses that port for %s", use)
	}
	backend, proxy, err := parseL4Backend(value, protocol)
	if err != nil {
		return L4Service{}, err
	}
	if backend.ProxyProtocol, err = parseProxyProtocol(proxy, protocol); err != nil {
		b.findConfigMap(configMap, "data."+key, "%v", err)
	}
	name := types.NamespacedName{Namespace: backend.Namespace, Name: backend.Name}
	service := b.service(name)
	if service == nil {
		return L4Service{}, fmt.Errorf("service %s does not exist", name)
	}
	endpoints, err := b.l4Endpoints(service, backend)
	if err != nil {
		return L4Service{}, err
	}
	if len(endpoints) == 0 {
		return L4Service{}, fmt.Errorf("service %s has no ready endpoint", name)
	}
	return L4Service{Port: int(number), Backend: backend, Endpoints: endpoints, Service: service}, nil
}

// l4Endpoints returns the endpoints of a service port, or an error if it cannot have any.
func (b *builder) l4Endpoints(service *corev1.Service, wanted L4Backend) ([]Endpoint, error) {
	name := snapshot.NameOf(service)
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		if !b.options.DynamicStream() {
			return nil, fmt.Errorf("service %s is of type ExternalName, which requires stream-lua: without it, nginx would not start if DNS did not answer", name)
		}
		endpoints, problem := b.externalEndpoints(service, wanted.Port)
		if problem != "" {
			return nil, fmt.Errorf("service %s %s", name, problem)
		}
		return endpoints, nil
	}
	port, ok := findL4Port(service, wanted)
	if !ok {
		return nil, fmt.Errorf("service %s has no %s port %s", name, wanted.Protocol, wanted.Port.String())
	}
	b.frozen[name] = true // they decide whether nginx listens
	return b.endpoints(source{service: service, port: port}), nil
}

// parseL4Backend parses <namespace>/<service>:<port>[:PROXY[:PROXY]]. It returns the fields after
// the port unparsed.
func parseL4Backend(text string, protocol corev1.Protocol) (backend L4Backend, proxy []string, err error) {
	fields := strings.Split(text, ":")
	namespace, name, ok := strings.Cut(fields[0], "/")
	if !ok || namespace == "" || name == "" || len(fields) < 2 || fields[1] == "" {
		return backend, nil, fmt.Errorf("%q: want <namespace>/<service>:<port>[:PROXY[:PROXY]]", text)
	}
	for _, label := range []string{namespace, name} { // manifest files may have a service of such a name
		if len(validation.IsDNS1123Label(label)) > 0 {
			return backend, nil, fmt.Errorf("%s: not a DNS label (RFC 1123)", shown(label))
		}
	}
	return L4Backend{Namespace: namespace, Name: name, Port: intstr.Parse(fields[1]), Protocol: protocol}, fields[2:], nil
}

// parseProxyProtocol parses [PROXY[:PROXY]]. The first field makes nginx expect the PROXY protocol
// from clients, the second makes it send the protocol to pods. The error names the ignored fields.
func parseProxyProtocol(fields []string, protocol corev1.Protocol) (ProxyProtocol, error) {
	switch {
	case len(fields) == 0:
		return ProxyProtocol{}, nil
	case protocol != corev1.ProtocolTCP:
		return ProxyProtocol{}, fmt.Errorf("%q is ignored: the PROXY protocol is for TCP", strings.Join(fields, ":"))
	}
	var proxy ProxyProtocol
	var err error
	if len(fields) > 2 { // as in ingress-nginx, only the first field counts then
		err = fmt.Errorf("%q is ignored: want PROXY or PROXY:PROXY", strings.Join(fields[1:], ":"))
		fields = fields[:1]
	}
	for i, field := range fields {
		switch {
		case field == "":
		case !strings.EqualFold(field, "PROXY"):
			err = fmt.Errorf("%q is ignored: want PROXY", field)
		case i == 0:
			proxy.Decode = true
		default:
			proxy.Encode = true
		}
	}
	return proxy, err
}

// findL4Port returns the port of a service with the wanted number or name. Unlike findPort, it
// ignores the target port.
func findL4Port(service *corev1.Service, wanted L4Backend) (corev1.ServicePort, bool) {
	for _, port := range service.Spec.Ports {
		if protocolOf(port.Protocol) != wanted.Protocol {
			continue
		}
		if wanted.Port.Type == intstr.Int && port.Port == wanted.Port.IntVal || wanted.Port.Type == intstr.String && port.Name == wanted.Port.StrVal {
			return port, true
		}
	}
	return corev1.ServicePort{}, false
}

// clashes returns an error if the service conflicts with one of the others.
func clashes(service L4Service, others []L4Service) error {
	for _, other := range others {
		switch {
		case other.Port == service.Port:
			return fmt.Errorf("port %d is already in use", service.Port)
		case other.Name() == service.Name() && snapshot.NameOf(other.Service) != snapshot.NameOf(service.Service):
			return fmt.Errorf("the backend would have the same name, %s, as that of service %s", service.Name(), snapshot.NameOf(other.Service))
		}
	}
	return nil
}

func (b *builder) findConfigMap(name types.NamespacedName, key, reason string, args ...any) {
	b.findings = append(b.findings, Finding{Object: "ConfigMap " + name.String(), Key: key, Reason: fmt.Sprintf(reason, args...)})
}
