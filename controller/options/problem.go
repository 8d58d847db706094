package options

import "fmt"

// Problem describes a value of the ConfigMap that could not be used.
type Problem struct {
	Key    string
	Value  string
	Reason string
	Used   string // the default used instead; empty if there is none, or if it is empty
}

func (p Problem) String() string {
	text := fmt.Sprintf("%s: %q: %s", p.Key, p.Value, p.Reason)
	if p.Used != "" {
		text += "; using " + p.Used
	}
	return text
}
