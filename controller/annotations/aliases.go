package annotations

var aliases = Family{
	Name: "aliases",
	Keys: []Key{
		{Name: "server-alias", Doc: "Further names of the host; with ~ in front, a pattern.", Risk: High, Scope: OfServer, Want: ListOf(Regex), Bad: RejectsAll},
	},
	parse: func(r *reader, set *Set) { set.Aliases = r.list("server-alias") },
}
