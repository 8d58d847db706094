package derive

import (
	"fmt"
	"slices"
)

// ofCases are the flags that affect the meaning of manifests, so that recorded cases need them as
// well.
var ofCases = []string{"annotations-prefix", "disable-catch-all", "disable-svc-external-name", "enable-ssl-passthrough"}

// ofObjects are flags of the controller that name objects, which have other names in cases.
var ofObjects = []string{
	"configmap", "tcp-services-configmap", "udp-services-configmap", "default-backend-service", "default-ssl-certificate", "publish-service",
	"watch-namespace", "watch-namespace-selector",
}

// Flags returns those flags of a controller, without dashes, that belong to Options. It returns an
// error if a flag names an object.
func Flags(all map[string]string) (map[string]string, error) {
	for _, flag := range ofObjects {
		if _, given := all[flag]; given {
			return nil, fmt.Errorf("flag %s: it names an object, and cases have objects of their own; leave it out", flag)
		}
	}
	mine := map[string]string{}
	for flag, value := range all {
		if slices.Contains(ofCases, flag) {
			mine[flag] = value
		}
	}
	return mine, nil
}
