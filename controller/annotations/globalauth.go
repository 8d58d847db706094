package annotations

var globalAuth = Family{
	Name: "global authentication",
	Keys: []Key{
		{Name: "enable-global-auth", Doc: "Ask the ConfigMap's global-auth-url about each request.", Risk: Low, Scope: OfLocation, Want: Boolean},
	},
	parse: func(r *reader, set *Set) { set.EnableGlobalAuth = r.flag("enable-global-auth", true) },
}
