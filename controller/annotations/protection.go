package annotations

// Protection is one way to restrict access to a location, or to control the traffic through it. It
// may consist of several annotations. The quarantine serves an earlier version of an ingress only
// if that protects no less than the wanted one: for each protection, both have the same values for
// all of its annotations, or the wanted version does not turn the protection on (Key.TurnsOn).
type Protection struct {
	Name string // for messages
	// Opens means that the annotations widen access. Then the earlier version must not turn them
	// on.
	Opens bool
	// Directives means that the value consists of nginx directives, of which only some protect.
	Directives bool
}

// Harmless is the protection of annotations that restrict nothing: a version without such an
// annotation protects as much as one with it.
var Harmless = &Protection{Name: "nothing"}

// The protections follow the annotation families of ingress-nginx.
var (
	allowList              = &Protection{Name: "allow list"}
	canarySelection        = &Protection{Name: "canary"}
	clientCertificates     = &Protection{Name: "client certificates"}
	clientTLS              = &Protection{Name: "TLS"}
	crossOrigin            = &Protection{Name: "CORS", Opens: true}
	denyList               = &Protection{Name: "deny list"}
	externalAuthentication = &Protection{Name: "external authentication"}
	firewall               = &Protection{Name: "ModSecurity"}
	globalAuthentication   = &Protection{Name: "global authentication"}
	hostAliases            = &Protection{Name: "aliases"}
	interceptedErrors      = &Protection{Name: "intercepted errors"}
	locationSnippet        = &Protection{Name: "snippet of the location", Directives: true}
	mirroring              = &Protection{Name: "mirror", Opens: true}
	passwords              = &Protection{Name: "passwords"}
	podRequests            = &Protection{Name: "requests to pods"}
	podVerification        = &Protection{Name: "verification of pods"}
	rateLimits             = &Protection{Name: "rate limits"}
	redirection            = &Protection{Name: "redirect"}
	redirectToHTTPS        = &Protection{Name: "redirect to HTTPS"}
	satisfaction           = &Protection{Name: "satisfy"}
	serverSnippet          = &Protection{Name: "snippet of the server", Directives: true}
	streamSnippet          = &Protection{Name: "snippet of the stream block", Directives: true}
)
