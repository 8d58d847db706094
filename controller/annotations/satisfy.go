package annotations

var satisfy = Family{
	Name: "access",
	Keys: []Key{
		{Name: "satisfy", Doc: "Whether source ranges, passwords and external authentication must all permit a client, or any of them.", Risk: Low, Scope: OfLocation, Want: OneOf("any", "all"), Protects: satisfaction},
	},
	parse: func(r *reader, set *Set) { set.Satisfy = r.text("satisfy", "") },
}
