package backend

// PortFleet is a Fleet whose pods may listen on more ports than one.
type PortFleet interface {
	Fleet
	// StartOn starts a pod as Start does; when it is ready, it also listens on the further ports. They
	// are from 1 to 65535.
	StartOn(name, service string, further []int) (Pod, error)
}

var _ PortFleet = (*Loopback)(nil)

// StartOn implements PortFleet.
func (f *Loopback) StartOn(name, service string, further []int) (Pod, error) {
	return f.start(name, service, nil, further)
}
