// Package render writes nginx.conf. It stands between the model and the text
// that nginx reads. Its one rule: equal models give equal bytes; checksums,
// times and random names have no place in them.
package render

import (
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Input is what the configuration depends on besides the model.
type Input struct {
	Options options.Options
	// Template is the user's own; nil is ours.
	Template *Template
	// ModulesPath is nginx's folder of modules, for the load_module lines of a
	// user's template.
	ModulesPath string
	// Modules are files for load_module, in their order.
	Modules []string
	// User is the value of the directive user, "name group". Empty omits the directive;
	// nginx's default user is then not root.
	User string
	// Optional are further modules that nginx could have, each with the files
	// for load_module that it needs: none where it is linked in. They are
	// loaded when something asks for them. Names are those of package nginx.
	Optional map[string][]string
	// GeoIPFiles are the databases of addresses that are there.
	GeoIPFiles []string
	// Missing are the files of FirewallFiles that are not there.
	Missing []string
	// HTTP2Directive says that nginx knows `http2 on;` (1.25.1 and later);
	// older ones take it as a parameter of listen.
	HTTP2Directive bool
	// StreamRealIP says that nginx's stream block can take a client's address
	// from the PROXY protocol.
	StreamRealIP bool
	// IPv6 says that the machine has IPv6, so that nginx can listen on it.
	IPv6 bool
	// Resolvers are the IP addresses of name servers; without any, nginx
	// cannot look up names while it runs.
	Resolvers []string
	// Backlog is the length of the queue of connections not accepted yet.
	Backlog int
	// FileLimit is the hard limit of open files (RLIMIT_NOFILE), from which
	// max-worker-open-files 0 is worked out.
	FileLimit int
}

// Render writes nginx.conf for m. An error is one of the template:
// "file:line: what".
func Render(m *model.Model, in Input) ([]byte, error) {
	template := in.Template
	if template == nil {
		template = ours
	}
	text, err := template.execute(newRoot(m, in))
	if err != nil {
		return nil, err
	}
	conf := indent(text)
	if in.Template != nil {
		conf = adapt(conf, in)
	}
	return conf, nil
}
