package annotations

var customHeaders = Family{
	Name: "headers of answers",
	Keys: []Key{
		{Name: "custom-headers", Doc: "ConfigMap ([namespace/]name) of headers sent to clients; each must be in global-allowed-response-headers.", Risk: Medium, Scope: OfLocation, Want: Object, Bad: DeniesRequest, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) { set.CustomHeaders = r.reference("custom-headers", false) },
}
