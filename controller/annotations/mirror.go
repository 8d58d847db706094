package annotations

// Mirror sends a copy of each request elsewhere.
type Mirror struct {
	Source      string // the location that sends it
	RequestBody string // on or off
	Target      string
	Host        string
}
