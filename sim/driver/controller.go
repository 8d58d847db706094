package driver

import "windtunnel.dev/sim/subject"

// ImageRunner is a driver that runs all controllers, the bundled one too, as images.
type ImageRunner interface {
	// ImageOf returns the name of the image of a subject's controller.
	ImageOf(s subject.Subject) string
}

// ImageOf returns the name or file of the image from which a driver runs a subject's controller; empty if
// there is none.
func ImageOf(d Driver, s subject.Subject) string {
	if d, ok := d.(ImageRunner); ok {
		return d.ImageOf(s)
	}
	return s.Image()
}

// ProgramRunner is a driver that runs controllers as programs of this machine.
type ProgramRunner interface {
	// ProgramOf returns the path of a subject's controller; empty if it is that of Windtunnel.
	ProgramOf(s subject.Subject) string
}

// ProgramOf returns the path of the program that a driver runs as a subject's controller; empty if it is
// that of Windtunnel, or not known by path.
func ProgramOf(d Driver, s subject.Subject) string {
	if d, ok := d.(ProgramRunner); ok {
		return d.ProgramOf(s)
	}
	return ""
}
