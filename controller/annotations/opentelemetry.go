package annotations

// Opentelemetry is tracing.
type Opentelemetry struct {
	Enabled       bool
	Set           bool
	TrustEnabled  bool
	TrustSet      bool
	OperationName string
}
