package traffic

// Door is where a lane's clients come to nginx.
type Door int

// The doors.
const (
	HTTP Door = iota
	TLS       // HTTP over TLS
	TCP       // a port of a service of its own, each
	UDP
)

// String is http, tls, tcp or udp.
func (d Door) String() string {
	return [...]string{HTTP: "http", TLS: "tls", TCP: "tcp", UDP: "udp"}[d]
}

// DoorOf is the door of a lane, HTTP of one that does not exist.
func DoorOf(lane string) Door {
	l, _ := find(lane)
	return l.door
}
