package annotations

// Affinity is how a client is kept at one pod.
type Affinity struct {
	Type           string // cookie, or empty for none
	Mode           string // balanced or persistent
	CanaryBehavior string // sticky, or legacy for none on canaries
	Cookie         Cookie
}

// Cookie is the cookie that keeps a client at a pod.
type Cookie struct {
	Name                    string
	Expires                 string // seconds
	MaxAge                  string // seconds
	Path                    string
	Domain                  string
	SameSite                string
	Secure                  *bool // nil goes by the request
	ConditionalSameSiteNone bool
	ChangeOnFailure         bool
}
