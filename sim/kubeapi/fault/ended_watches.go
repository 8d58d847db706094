package fault

// EndedWatches ends the watches that are open, once, as ClosedWatch does: who comes
// back at once may stay.
func EndedWatches() Fault {
	return Fault{Name: "ended-watches", Happen: func(t Target, s Scope) (func(), error) {
		t.EndWatches(s)
		return func() {}, nil
	}}
}
