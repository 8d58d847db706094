package annotations

// Canary says which requests go to a canary's pods.
type Canary struct {
	Enabled       bool
	Weight        int
	WeightTotal   int
	Header        string
	HeaderValue   string
	HeaderPattern string
	Cookie        string
}
