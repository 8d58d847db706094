package annotations

var globalAuth = Family{
	Name: "global authentication",
	Keys: []Key{
		{Name: "enable-global-auth", Doc: "Authenticate each request with the ConfigMap's global-auth-url.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: globalAuthentication},
	},
	parse: func(r *reader, set *Set) { set.EnableGlobalAuth = r.flag("enable-global-auth", true) },
}
