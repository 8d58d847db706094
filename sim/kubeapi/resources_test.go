package kubeapi

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
)

// Every row is served in every form, empty objects print, and the table has the
// order that discovery relies on: the versions of a group together.
func TestEveryResourceIsServed(t *testing.T) {
	s := start(t)
	for _, res := range resources {
		if res.review != nil {
			continue // only ever posted
		}
		t.Run(res.groupResource().String(), func(t *testing.T) {
			if !scheme.Scheme.Recognizes(res.groupVersion().WithKind(res.typeMeta("List").Kind)) {
				t.Errorf("client-go knows no %s", res.typeMeta("List").Kind)
			}
			for _, accept := range []string{"application/json", protobufType, "application/json;as=Table;g=meta.k8s.io;v=v1",
				protobufType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"} {
				req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/"+groupPath(res.groupVersion())+"/"+res.name, nil)
				check(t, err)
				req.Header.Set("Accept", accept)
				resp, err := http.DefaultClient.Do(req)
				check(t, err)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", accept, resp.Status)
				}
			}
			if p := res.printer; p != nil && res.view == nil {
				if cells := p.cells(res.empty(), time.Now()); len(cells) != len(p.columns) {
					t.Errorf("%d cells for %d columns", len(cells), len(p.columns))
				}
			}
		})
	}
}
