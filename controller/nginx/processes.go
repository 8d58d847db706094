package nginx

// Processes are the PIDs of the master and of all its children, those that
// have not finished their start included.
func (p *Process) Processes() []int {
	all := []int{p.PID()}
	if forked, err := children(p.PID()); err == nil {
		all = append(all, forked...)
	}
	return all
}
