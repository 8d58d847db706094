package options

import "fmt"

// Finding is a value of the ConfigMap that could not be used.
type Finding struct {
	Key    string
	Value  string
	Reason string
	Used   string // the default used instead, if there is one and it is not empty
}

func (f Finding) String() string {
	text := fmt.Sprintf("%s: %q: %s", f.Key, f.Value, f.Reason)
	if f.Used != "" {
		text += "; using " + f.Used
	}
	return text
}
