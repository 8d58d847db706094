package apply

// Processes are the PIDs of nginx's processes; none before it was started.
func (t *Target) Processes() []int {
	if process := t.started(); process != nil {
		return process.Processes()
	}
	return nil
}

// StatusURL is where nginx tells of itself (stub_status).
func (t *Target) StatusURL() string { return t.control + "/nginx_status" }
