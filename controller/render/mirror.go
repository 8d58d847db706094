package render

import (
	"fmt"
	"strings"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// buildMirrorLocations returns the internal locations that proxy mirrored requests. ingress-nginx
// sends X-Sent-From only in authentication subrequests. Here it makes Lua on the status port refuse
// the request, because it was proxied.
func buildMirrorLocations(locations []*model.Location) string {
	var blocks strings.Builder
	for _, mirror := range mirrors(locations) {
		fmt.Fprintf(&blocks, "location = %s {\ninternal;\nproxy_set_header Host %s;\nproxy_set_header X-Sent-From \"nginx-ingress-controller\";\nproxy_pass %s;\n}\n\n",
			quote(mirror.Source), quote(mirror.Host), quote(mirror.Target))
	}
	return blocks.String()
}

// mirrors returns the mirrors of the locations, one per source.
func mirrors(locations []*model.Location) []annotations.Mirror {
	var found []annotations.Mirror
	seen := make(map[string]bool)
	for _, location := range locations {
		mirror := location.Mirror
		if mirror.Source == "" || mirror.Target == "" || mirror.Host == "" || seen[mirror.Source] {
			continue
		}
		seen[mirror.Source] = true
		found = append(found, mirror)
	}
	return found
}
