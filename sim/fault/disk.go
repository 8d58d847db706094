package fault

import "time"

// ofDisk are the faults of where the controller writes.
var ofDisk = []Fault{
	{Name: "disk-full", Doc: "There is no room left where nginx's configuration is written. It needs root.", Lasts: true,
		strike: func(v Victim, _ time.Duration) (func(), error) { return v.FillDisk() }},
}
