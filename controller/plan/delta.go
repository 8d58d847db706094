package plan

// deltaShare limits the bytes of all deltas since the last full POST, as a share of the bytes of
// all backends. New workers must apply all deltas, and shared memory stores them in addition to the
// full list.
const deltaShare = 0.5

// delta returns the changes to send instead of all backends, or nil if all must be sent: Lua does
// not accept deltas, it lacks the running backends, or the deltas are too large.
func delta(running, next State) []byte {
	if !next.AcceptsDeltas || !running.Backends.IsSent() || lostDicts(running, next)(backendsDict) {
		return nil
	}
	changes, err := next.Backends.Delta(running.Backends)
	if err != nil {
		return nil // a backend is not valid JSON; a full POST reports the error
	}
	if float64(running.DeltaBytes+len(changes)) > deltaShare*float64(next.Backends.Size()) {
		return nil
	}
	return changes
}

// CertificatesBody returns the body of POST /configuration/servers that leads from the running
// state to s. If Lua accepts deltas, the body contains only the differences.
func (s State) CertificatesBody(running State) ([]byte, error) {
	return s.Certificates.Body(running.Certificates, s.AcceptsDeltas && running.Certificates.IsSent())
}
