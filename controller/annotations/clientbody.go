package annotations

// ClientBody is how request bodies are read.
type ClientBody struct {
	BufferSize string // empty leaves the ConfigMap's
}
