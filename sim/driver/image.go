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
