// Package render writes nginx.conf. It stands between the model and the text that nginx reads. Its
// one rule: equal models give equal bytes, so nginx.conf contains no checksums, times or random
// names.
package render

import (
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Input contains the inputs of nginx.conf besides the model.
type Input struct {
	Options options.Options
	// Template is the user's own template; nil means ours.
	Template *Template
	// ModulesPath is nginx's folder of modules, for the load_module lines of a user's template.
	ModulesPath string
	// Modules are the files for load_module, in order.
	Modules []string
	// User is the value of the directive user, "name group". Empty omits the directive; nginx then
	// uses its default user, which is not root.
	User string
	// Optional maps further modules that nginx can have to their files for load_module. The list is
	// empty for a module that is linked in. A module is loaded if the configuration needs it. The
	// names are those of package nginx.
	Optional map[string][]string
	// MIMETypes is the path of nginx's mime.types. Empty: only nginx's built-in types apply.
	MIMETypes string
	// GeoIPFiles are the available GeoIP databases.
	GeoIPFiles []string
	// Missing are the files in FirewallFiles that do not exist.
	Missing []string
	// HTTP2Directive reports whether nginx knows `http2 on;` (1.25.1 and later). In older versions
	// it is a parameter of listen.
	HTTP2Directive bool
	// StreamRealIP reports whether nginx's stream block can read the client's address from the
	// PROXY protocol.
	StreamRealIP bool
	// IPv6 reports whether the machine has IPv6, so nginx can listen on it.
	IPv6 bool
	// Resolvers are the IP addresses of DNS servers. Without any, nginx cannot resolve names at run
	// time.
	Resolvers []string
	// Backlog is the length of the queue of connections that nginx has not accepted yet.
	Backlog int
	// FileLimit is the hard limit of open files (RLIMIT_NOFILE). It determines the value of
	// max-worker-open-files: 0.
	FileLimit int
}

// Render returns nginx.conf for m. Errors come from the template: "file:line: message".
func Render(m *model.Model, in Input) ([]byte, error) {
	text, err := new(Memo).Render(m, in)
	if err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
