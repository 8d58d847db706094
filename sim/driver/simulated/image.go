package simulated

import (
	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/adapter"
)

// ImageKubeconfig is the path of the kubeconfig for controllers that run from an image.
const ImageKubeconfig = "/kubeconfig"

// ExpandForImage expands the adapter of a subject that runs from an image with these labels: its files are
// at their own paths, it sees no processes but its own, and its entry point replaces .Controller. The
// bundled controller's flags are known; those of others are not.
func (i *Instance) ExpandForImage(a *adapter.Adapter, labels map[string]string) (*adapter.Setup, error) {
	data := i.Data()
	data.Controller, data.Kubeconfig = "controller", ImageKubeconfig
	if labels[engine.Bundled] != "" {
		data.Help.Flags = map[string]bool{"log-format": true}
	}
	setup, err := a.Expand(data)
	if err == nil {
		setup.Isolation = nil
	}
	return setup, err
}

// ImageArguments are the arguments of a controller that runs from an image, after those of the image.
func ImageArguments(s *adapter.Setup) []string {
	return append(append([]string{}, s.Command[1:]...), s.Arguments...)
}
