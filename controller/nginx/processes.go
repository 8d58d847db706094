package nginx

// Processes returns the PIDs of the master and of all its children, including those that are still
// starting.
func (p *Process) Processes() []int {
	all := []int{p.PID()}
	if forked, err := children(p.PID()); err == nil {
		all = append(all, forked...)
	}
	return all
}
