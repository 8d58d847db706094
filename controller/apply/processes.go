package apply

// Processes returns the PIDs of nginx's processes; none before the start.
func (t *Target) Processes() []int {
	if process := t.started(); process != nil {
		return process.Processes()
	}
	return nil
}

// StatusURL returns the URL of nginx's stub_status.
func (t *Target) StatusURL() string { return t.control + "/nginx_status" }

// DictionariesURL returns the URL at which our Lua reports the sizes of its shared dictionaries.
func (t *Target) DictionariesURL() string { return t.control + "/configuration/dictionaries" }
