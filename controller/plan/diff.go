package plan

import "bytes"

// Diff is what must be done so that nginx, which reads running, comes to read
// next: nothing when the bytes are equal. A zero running state is an nginx
// that has not been started.
func Diff(running, next State) []Step {
	var steps []Step
	now := running
	now.TakesDeltas = next.TakesDeltas
	step := func(kind StepKind, why []Why) { steps = append(steps, Step{Kind: kind, Next: now, Why: why}) }
	if !bytes.Equal(running.Conf, next.Conf) || !bytes.Equal(running.LuaConfig, next.LuaConfig) || !sameTracing(running, next) {
		now.Conf, now.LuaConfig, now.Tracing = next.Conf, next.LuaConfig, next.Tracing
		step(Reload, whyReload(running, next))
	}
	if !running.Backends.Equal(next.Backends) || loseDict(backendsDict, running, next) {
		changes := delta(running, next)
		now.Backends, now.DeltaBytes = next.Backends, running.DeltaBytes+len(changes)
		if changes == nil {
			now.DeltaBytes = 0
		}
		step(PostBackends, whyPost(backendsDict, running, next, running.Backends, next.Backends))
		steps[len(steps)-1].Delta = changes
	}
	if needsStream(running, next) {
		now.Stream = next.Stream
		step(SendStream, whyPost(streamDict, running, next, running.Stream, next.Stream))
	}
	return steps
}

// needsStream tells whether the line to the stream port must be sent. To an
// nginx that has been told of no service, nothing need be said of none.
func needsStream(running, next State) bool {
	if next.Stream == nil || len(running.Stream) == 0 && len(next.Stream) == 0 {
		return false
	}
	return !running.Stream.Equal(next.Stream) || loseDict(streamDict, running, next)
}
