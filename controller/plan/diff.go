package plan

import "bytes"

// Diff is what must be done so that nginx, which reads running, comes to read
// next: nothing when the bytes are equal. A zero running state is an nginx
// that has not been started.
func Diff(running, next State) []Step {
	var steps []Step
	if !bytes.Equal(running.Conf, next.Conf) || !bytes.Equal(running.LuaConfig, next.LuaConfig) {
		steps = append(steps, Step{
			Kind: Reload,
			Next: State{Conf: next.Conf, LuaConfig: next.LuaConfig, Backends: running.Backends},
			Why:  whyReload(running, next),
		})
	}
	if !bytes.Equal(running.Backends, next.Backends) || loseBackends(running.Conf, next.Conf) {
		steps = append(steps, Step{Kind: PostBackends, Next: next, Why: whyPost(running, next)})
	}
	return steps
}
