package annotations

// FastCGI contains the options of FastCGI backends.
type FastCGI struct {
	Index     string
	ParamsMap string            // namespace/name of the ConfigMap
	Params    map[string]string // the contents of ParamsMap
}

var fastCGI = Family{
	Name: "FastCGI",
	Keys: []Key{
		{Name: "fastcgi-index", Doc: "Index file of directories.", Risk: Medium, Scope: OfLocation, Want: pattern(`[A-Za-z0-9._\-]+`, "a file name"), Bad: RejectsAll, Protects: Harmless},
		{Name: "fastcgi-params-configmap", Doc: "ConfigMap ([namespace/]name) of FastCGI parameters.", Risk: Medium, Scope: OfLocation, Want: Object, Bad: RejectsAll, Protects: podRequests},
	},
	parse: func(r *reader, set *Set) {
		set.FastCGI = FastCGI{Index: r.text("fastcgi-index", ""), ParamsMap: r.reference("fastcgi-params-configmap", false)}
	},
}
