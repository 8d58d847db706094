package plan

// deltaShare is what part of all backends' bytes the changes that were sent
// since may make up. A new worker takes over all of them, and shared memory
// keeps them beside the whole.
const deltaShare = 0.5

// delta is what is to be sent instead of all backends, nil if that would save
// nothing or Lua does not take it.
func delta(running, next State) []byte {
	if !next.TakesDeltas || running.Backends == nil || loseDict(backendsDict, running, next) {
		return nil
	}
	changes, err := next.Backends.Delta(running.Backends)
	if err != nil {
		return nil // they are no JSON: whoever reads all of them will say so
	}
	if float64(running.DeltaBytes+len(changes)) > deltaShare*float64(next.Backends.Size()) {
		return nil
	}
	return changes
}
