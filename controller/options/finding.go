package options

import "fmt"

// Finding describes a value of the ConfigMap that could not be used.
type Finding struct {
	Key    string
	Value  string
	Reason string
	Used   string // the default used instead; empty if there is none, or if it is empty
}

func (f Finding) String() string {
	text := fmt.Sprintf("%s: %q: %s", f.Key, f.Value, f.Reason)
	if f.Used != "" {
		text += "; using " + f.Used
	}
	return text
}
