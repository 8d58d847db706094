package follow

// Drain passes on the events and outages that have arrived and that nobody has received. It does not
// wait for more.
func (f *Follower) Drain(see func(Event), outage func(error)) {
	for {
		select {
		case e := <-f.Events:
			see(e)
		case why := <-f.Outages:
			outage(why)
		default:
			return
		}
	}
}
