package wire

import (
	"encoding/json"
	"fmt"
)

// delta is the body of a POST to /configuration/backends/delta, which only our
// Lua knows: the backends that are new or not as they were, and the names of
// those that are gone. What they are changes of is said in the URL.
type delta struct {
	Changed []json.RawMessage `json:"changed"`
	Removed []string          `json:"removed"`
}

// Delta is what leads from the list before to this one, as a body that is sent
// in the place of all. Their order is nothing to Lua and no change.
func (l List) Delta(before List) ([]byte, error) {
	d := delta{Changed: []json.RawMessage{}, Removed: []string{}}
	for _, change := range l.Since(before) {
		if change.After == nil {
			d.Removed = append(d.Removed, change.Name)
		} else {
			d.Changed = append(d.Changed, change.After)
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encoding the changes of backends: %w", err)
	}
	return text, nil
}
