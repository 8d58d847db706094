package scenario

import (
	"fmt"

	"windtunnel.dev/sim/specfile"
)

// Marshal returns the scenario as a file, with its defaults filled in. Parse reads that file back
// to the same scenario.
func (s *Scenario) Marshal() ([]byte, error) {
	first := document{APIVersion: APIVersion, Kind: Kind, Metadata: metadata{Name: s.Name}, Spec: s.Spec}
	file, err := specfile.Marshal(first, s.Manifests)
	if err != nil {
		return nil, fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	return file, nil
}
