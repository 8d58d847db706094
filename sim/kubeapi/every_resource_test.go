package kubeapi

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/openapi"
)

// Every row is served in every representation, empty objects print without errors, and the table
// has the order that discovery relies on: the versions of a group together.
func TestEveryResourceIsServed(t *testing.T) {
	s := start(t)
	for _, res := range kinds.BuiltIn {
		if res.Review != nil {
			continue // clients only post it
		}
		t.Run(res.GroupResource().String(), func(t *testing.T) {
			if !scheme.Scheme.Recognizes(res.GroupVersion().WithKind(res.TypeMeta("List").Kind)) {
				t.Errorf("client-go knows no %s", res.TypeMeta("List").Kind)
			}
			for _, accept := range []string{"application/json", codec.ProtobufType, "application/json;as=Table;g=meta.k8s.io;v=v1",
				codec.ProtobufType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"} {
				req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/"+openapi.GroupPath(res.GroupVersion())+"/"+res.Name, nil)
				check(t, err)
				req.Header.Set("Accept", accept)
				resp, err := http.DefaultClient.Do(req)
				check(t, err)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", accept, resp.Status)
				}
			}
			if p := res.Printer; p != nil && res.View == nil {
				if cells := p.Cells(res.Empty(), time.Now()); len(cells) != len(p.Columns) {
					t.Errorf("%d cells for %d columns", len(cells), len(p.Columns))
				}
			}
		})
	}
}
