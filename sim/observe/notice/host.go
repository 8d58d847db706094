package notice

import (
	"fmt"
	"net/url"
	"strings"
)

// Host is a host that the user names.
type Host struct {
	Name, Path string // Path is "" or begins with a slash
	TLS        bool
	// Identified means that the answers of its pods say which pod gave them.
	Identified bool
}

// ParseHost reads HOST[/PATH], which may begin with http:// or https://.
func ParseHost(text string) (Host, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "":
		return Host{}, fmt.Errorf("%q is not a host: write shop.example, shop.example/path or https://shop.example/path", text)
	case u.Port() != "":
		return Host{}, fmt.Errorf("%q has a port: set the address of the controller with --address", text)
	}
	path := u.RequestURI()
	if path == "/" {
		path = ""
	}
	return Host{Name: strings.ToLower(u.Hostname()), Path: path, TLS: u.Scheme == "https"}, nil
}
