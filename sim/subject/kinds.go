package subject

// Kind is a kind of controller that a scenario can name.
type Kind struct {
	Name string // as a scenario writes it
	Doc  string
}

// Kinds returns all kinds of controllers. All of them accept ingress-nginx's flags and run nginx.
func Kinds() []Kind {
	return []Kind{
		{Bundled, "the bundled controller; --controller or --image replaces it"},
		{"PATH", "the binary of an ingress controller that accepts ingress-nginx's flags; the driver local runs it"},
		{ImagePrefix + "NAME", "the image of such a controller; the drivers container and kind run it"},
	}
}
