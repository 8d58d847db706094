package fault

// Compaction gives up the history of the scope's resources: watches that resume,
// pages of lists and lists of an exact version are too late from then on. Open
// watches live on. There is nothing to heal.
func Compaction() Fault {
	return Fault{Name: "compaction", Happen: func(t Target, s Scope) (func(), error) {
		t.Forget(s)
		return func() {}, nil
	}}
}
