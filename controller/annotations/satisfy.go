package annotations

var satisfy = Family{
	Name: "access",
	Keys: []Key{
		{Name: "satisfy", Doc: "Whether addresses, passwords and external authentication must all let a client in, or any of them.", Risk: Low, Scope: OfLocation, Want: OneOf("any", "all")},
	},
	parse: func(r *reader, set *Set) { set.Satisfy = r.text("satisfy", "") },
}
