package annotations

// Opentelemetry contains the options of OpenTelemetry tracing.
type Opentelemetry struct {
	Enabled       bool
	Set           bool // otherwise the ConfigMap decides
	TrustEnabled  bool
	TrustSet      bool // otherwise the ConfigMap decides
	OperationName string
}

var opentelemetry = Family{
	Name: "tracing",
	Keys: []Key{
		{Name: "enable-opentelemetry", Doc: "Trace requests; the ConfigMap sets the default.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: Harmless},
		{Name: "opentelemetry-trust-incoming-span", Doc: "Continue the client's span.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: Harmless},
		{Name: "opentelemetry-operation-name", Doc: "Operation name of the spans.", Risk: Medium, Scope: OfLocation, Want: pattern(`[A-Za-z0-9_\-]*`, "letters, digits and _ -"), Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		set.Opentelemetry.OperationName = r.text("opentelemetry-operation-name", "")
		if on := r.choice("enable-opentelemetry"); on != nil {
			set.Opentelemetry.Set, set.Opentelemetry.Enabled = true, *on
		}
		if on := r.choice("opentelemetry-trust-incoming-span"); on != nil {
			set.Opentelemetry.TrustSet, set.Opentelemetry.TrustEnabled = true, *on
		}
	},
}
