package fault

// EndedWatches ends the open watches once, as ClosedWatch does; clients may reconnect at
// once.
func EndedWatches() Fault {
	return Fault{Name: "ended-watches", Happen: func(t Target, s Scope) (func(), error) {
		t.EndWatches(s)
		return func() {}, nil
	}}
}
