package annotations

// Snippets are texts put into nginx.conf as they are.
type Snippets struct {
	Configuration string // into the location
	Server        string
	Stream        string
}
