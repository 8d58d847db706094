package annotations

// SourceRange is networks of clients.
type SourceRange struct {
	CIDR []string
}
