package quarantine

import (
	"slices"
	"testing"

	"windtunnel.dev/controller/options"
)

// Each key of the ConfigMap must be in exactly one table, so nobody adds a key without deciding
// whether it protects.
func TestEachKeyIsInOneTable(t *testing.T) {
	for _, key := range options.Keys() {
		tables := 0
		for _, in := range []bool{slices.Contains(gates, key.Name), slices.Contains(snippetKeys, key.Name), protectingKeys[key.Name], harmlessKeys[key.Name]} {
			if in {
				tables++
			}
		}
		if tables != 1 {
			t.Errorf("%s is in %d tables, want 1", key.Name, tables)
		}
	}
}
