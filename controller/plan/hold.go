package plan

// Hold is the wanted state but for what takes a reload: that stays as it runs.
// It is for the time in which nginx must not reload.
func Hold(running, next State) State {
	next.Conf, next.LuaConfig, next.Tracing, next.Files = running.Conf, running.LuaConfig, running.Tracing, running.Files
	return next
}
