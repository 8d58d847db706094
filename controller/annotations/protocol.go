package annotations

import "strings"

var protocol = Family{
	Name: "protocols",
	Keys: []Key{
		{Name: "backend-protocol", Doc: "Protocol of the pods: HTTP, HTTPS, AUTO_HTTP (the client's scheme), GRPC, GRPCS or FCGI.", Risk: Low, Scope: OfLocation, Want: pattern(`(?i)auto_http|http|https|grpc|grpcs|fcgi`, "HTTP, HTTPS, AUTO_HTTP, GRPC, GRPCS or FCGI"), Bad: RejectsAll, Protects: podRequests},
	},
	parse: func(r *reader, set *Set) { set.BackendProtocol = strings.ToUpper(r.text("backend-protocol", "HTTP")) },
}
