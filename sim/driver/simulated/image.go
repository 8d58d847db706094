package simulated

import (
	"maps"
	"os"
	"slices"
	"strings"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/adapter"
)

// ImageKubeconfig is the path of the kubeconfig for controllers that run from an image.
const ImageKubeconfig = "/kubeconfig"

// ExpandForImage expands the adapter of a subject that runs from an image with these labels. The
// image's files are at their own paths, the controller sees only its own processes, and the image's
// entry point replaces .Controller. The only flag that is known is log-format, which the bundled
// controller has.
func (i *Instance) ExpandForImage(a *adapter.Adapter, labels map[string]string) (*adapter.Setup, error) {
	data := i.Data()
	data.Controller, data.Kubeconfig = "controller", ImageKubeconfig
	data.APIServer = inImage(data.APIServer)
	if flag := map[string]bool{"log-format": true}; labels[engine.Bundled] != "" {
		data.Help.Flags = flag
	} else {
		data.Help.Without = flag // no other controller has it
	}
	setup, err := a.Expand(data)
	if err == nil {
		setup.Isolation = nil
	}
	return setup, err
}

// ImageArguments are the arguments of a controller that runs from an image, which follow those of
// the image.
func ImageArguments(s *adapter.Setup) []string {
	return append(append([]string{}, s.Command[1:]...), s.Arguments...)
}

// Copied returns the text of a file that an adapter copies, with its texts replaced.
func Copied(file adapter.File) (string, error) {
	content, err := os.ReadFile(file.From)
	if err != nil {
		return "", err
	}
	text := string(content)
	for _, old := range slices.Sorted(maps.Keys(file.Replace)) {
		text = strings.ReplaceAll(text, old, file.Replace[old])
	}
	return text, nil
}
