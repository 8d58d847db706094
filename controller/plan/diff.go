package plan

import (
	"bytes"
	"maps"
	"reflect"

	"windtunnel.dev/controller/wire"
)

// Diff returns the steps that bring nginx from the running state to the next. There are none if the
// bytes are equal. The zero State is an nginx that was never started.
func Diff(running, next State) []Step {
	var steps []Step
	now := running
	now.AcceptsDeltas = next.AcceptsDeltas
	step := func(kind StepKind, why []Why) { steps = append(steps, Step{Kind: kind, Next: now, Why: why}) }
	if !sameAtStart(running, next) {
		now = now.withStartOf(next)
		now.forget(running)
		step(Reload, whyReload(running, next))
	}
	if !bytes.Equal(running.Passthrough, next.Passthrough) {
		now.Passthrough = next.Passthrough
		step(Pass, whyPass(running, next))
	}
	if !now.Backends.Equal(next.Backends) {
		changes := delta(now, next)
		now.Backends, now.DeltaBytes = next.Backends, running.DeltaBytes+len(changes)
		if changes == nil {
			now.DeltaBytes = 0
		}
		step(PostBackends, whyPost(backendsDict, running, next, running.Backends, next.Backends))
		steps[len(steps)-1].Delta = changes
	}
	if needsStream(now, next) {
		now.Stream = next.Stream
		step(SendStream, whyPost(streamDict, running, next, running.Stream, next.Stream))
	}
	if !now.Certificates.Equal(next.Certificates) {
		now.Certificates = next.Certificates
		step(PostServers, whyCertificates(running.Certificates, next.Certificates))
	}
	return steps
}

// forget clears the data that Lua loses in a reload.
func (s *State) forget(before State) {
	lost := lostDicts(before, *s)
	if lost(backendsDict) {
		s.Backends = wire.List{}
	}
	if lost(streamDict) {
		s.Stream = wire.List{}
	}
	if lost(certificatesDict) || lost(serversDict) {
		s.Certificates = wire.Certificates{}
	}
}

// needsStream reports whether the stream backends must be sent. An empty list need not be sent to
// an nginx that has none.
func needsStream(now, next State) bool {
	if !next.Stream.IsSent() || now.Stream.Len() == 0 && next.Stream.Len() == 0 {
		return false
	}
	return !now.Stream.Equal(next.Stream)
}

func sameFiles(running, next State) bool {
	if reflect.ValueOf(running.Files).Pointer() == reflect.ValueOf(next.Files).Pointer() {
		return true // most states share them
	}
	return maps.EqualFunc(running.Files, next.Files, bytes.Equal)
}
