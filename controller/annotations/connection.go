package annotations

// Connection is the header of that name, as pods get it.
type Connection struct {
	Enabled bool
	Header  string
}
