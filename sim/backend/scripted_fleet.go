package backend

import (
	"net/netip"

	"windtunnel.dev/sim/event"
)

// ScriptedFleet is a Fleet whose pods may follow scripts and record what they receive.
type ScriptedFleet interface {
	Fleet
	// StartScripted starts a pod as Start does; when it is ready, it follows the script. It fails if
	// the script is not valid.
	StartScripted(name, service string, s Script) (Pod, error)
	// Record makes the pods that start from now on record what they receive at their HTTP ports, with
	// a script or without. The fleet keeps the latest records, as many as keep.
	Record(keep int)
	// Received returns the records with a Seq above since that are kept, in order. A caller that
	// wants records complete repeats the call until all are Done. The records of pods that are gone
	// are kept as well.
	Received(since int) ([]Received, error)
}

var _ ScriptedFleet = (*Loopback)(nil)

// StartScripted implements ScriptedFleet.
func (f *Loopback) StartScripted(name, service string, s Script) (Pod, error) {
	script, err := s.compile()
	if err != nil {
		return nil, err
	}
	return f.start(name, service, script, nil)
}

// Record implements ScriptedFleet.
func (f *Loopback) Record(keep int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recording = NewRecording(keep, 0)
}

// Received implements ScriptedFleet. The error is always nil.
func (f *Loopback) Received(since int) ([]Received, error) {
	f.mu.Lock()
	recording := f.recording
	f.mu.Unlock()
	return recording.Received(since), nil
}

// ScriptedSingle starts a pod as Single does, which follows the script and records; both may be nil.
func ScriptedSingle(name, service string, address netip.AddrPort, streamPort int, s *Script, recording *Recording, tell func(event.Event)) (Pod, error) {
	var script *compiled
	if s != nil {
		var err error
		if script, err = s.compile(); err != nil {
			return nil, err
		}
	}
	p := newPod(singleContext(streamPort, tell), name, service, address)
	p.assign(script, recording)
	p.setState(Starting)
	return p, nil
}
