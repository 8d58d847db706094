package annotations

// FastCGI is how FastCGI pods are spoken to.
type FastCGI struct {
	Index     string
	ParamsMap string            // namespace/name of the ConfigMap
	Params    map[string]string // of that
}
