package regress_test

import (
	"slices"
	"testing"

	"windtunnel.dev/sim/regress"
)

func TestChangedFiles(t *testing.T) {
	base := map[string]string{"a.lua": "1", "b.lua": "1", "c.lua": "1", "spec/a.lua": "1", "x.go": "1"}
	head := map[string]string{"a.lua": "1", "b.lua": "2", "d.lua": "1", "x.go": "2"}
	if got, want := regress.ChangedFiles(base, head, ".lua"), []string{"b.lua", "c.lua", "d.lua"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
