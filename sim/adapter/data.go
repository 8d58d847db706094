package adapter

// Data has the values for the templates of an adapter, such as {{.Kubeconfig}}.
type Data struct {
	Controller string // the path of the controller's binary
	Kubeconfig string // the path of a kubeconfig of the subject's API server
	APIServer  APIServer
	// Root is the folder of the subject, in which its files are laid out; empty in containers, whose
	// files are at their own paths.
	Root           string
	Namespace      string // of the controller's own objects
	PodName        string // of its own pod
	NodeName       string // of that pod's node
	PublishAddress string // the address for the status of ingresses
	Ports          Ports
	ConfigMap      string            // namespace/name; empty if the controller has none
	Flags          map[string]string // of the subject, without dashes
	Config         map[string]string // ConfigMap keys of the subject
	Streams        []Stream          // services that must be published over TCP and UDP; often none
	// Settings of the subject: the binary of nginx (or of the proxy that the controller starts), the folder
	// with the Lua code, the template of the proxy's configuration. Empty: not set.
	Nginx, Lua, Template string
	// Webhook is empty unless the subject must serve its validating webhook.
	Webhook Webhook
	// Help has the known flags of the controller.
	Help Help
}

// APIServer is the subject's API server over HTTPS, for controllers without a kubeconfig.
type APIServer struct {
	Host string
	Port int
	// CA is the path of a file with the certificate of its CA, and Token that of a file with a token of the
	// controller's service account.
	CA, Token string
}

// Webhook has the certificate with which a controller serves its validating webhook at Ports.Webhook.
type Webhook struct {
	Certificate, Key string // PEM
}

// Ports are free ports of this machine for the controller and its proxy. An adapter may use any of them
// for any purpose.
type Ports struct {
	HTTP, HTTPS     int // where clients connect
	Default         int // a default server
	Status, Stream  int // the proxy's internal ports: faults refuse connections to Status
	Health, Metrics int
	Admin, Profiler int
	Webhook         int
}

// PortCount is the number of Ports.
const PortCount = 10

// PortsFrom returns the ports base, base+1 …
func PortsFrom(base int) Ports {
	return Ports{
		HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4,
		Health: base + 5, Metrics: base + 6, Admin: base + 7, Profiler: base + 8, Webhook: base + 9,
	}
}

// Stream is a service that must be published over plain TCP and UDP.
type Stream struct {
	Port    int    // on which clients connect
	Service string // namespace/name:port
}

// Help says which flags a controller has.
type Help struct {
	Flags   map[string]bool
	Whole   bool            // the controller has no other flags
	Without map[string]bool // flags that it does not have, if the others are not known
}

// Supports reports whether the controller is known to have a flag.
func (d Data) Supports(flag string) bool { return d.Help.Flags[flag] }

// Lacks reports whether the controller is known to lack a flag.
func (d Data) Lacks(flag string) bool {
	return d.Help.Whole && !d.Help.Flags[flag] || d.Help.Without[flag]
}
