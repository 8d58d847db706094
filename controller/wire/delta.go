package wire

import (
	"encoding/json"
	"fmt"
)

// delta is the body of a POST to /configuration/backends/delta, which only our Lua supports: the
// new and changed backends, and the names of removed ones. The URL contains the number of the POST
// on which it is based.
type delta struct {
	Changed []json.RawMessage `json:"changed"`
	Removed []string          `json:"removed"`
}

// Delta returns the changes since the list before, as a body to send instead of all backends. It
// ignores the order of backends, which does not matter to Lua.
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
