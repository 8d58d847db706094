package annotations

// Redirect answers all requests of a location with another place.
type Redirect struct {
	URL       string
	Code      int
	Relative  bool // redirects have no host
	FromToWWW bool // www.HOST is redirected to HOST, or the other way about
}
