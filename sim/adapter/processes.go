package adapter

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// The values of Processes.Workers.
const (
	// Titled workers are children of the master with a title. A reload starts several new ones, and
	// then tells the old ones to drain.
	Titled = "titled"
	// Forked workers are children of the master that run its program. Each is a generation; it drains
	// from the start of a newer one until it ends.
	Forked = "forked"
	// Single is one process that is never replaced: the master is the only worker.
	Single = "single"
)

// WorkerKinds lists the values of Processes.Workers.
var WorkerKinds = []string{Titled, Forked, Single}

// Processes says how the processes that answer requests are recognised.
type Processes struct {
	// How workers follow each other: titled (children of the master with a title; a reload starts a set of new ones), forked (each child of the master is a generation, and an older one drains until it ends) or single (one process that is never replaced).
	Workers string `yaml:"workers" jsonschema:"required,enum=titled,enum=forked,enum=single"`
	// A regular expression over the command line of the master, which is the controller or one of its descendants; the nearest one counts. Default, for single: the controller itself.
	Master Pattern `yaml:"master,omitempty"`
	// A file with the master's PID, a template. It takes precedence where the harness can read the controller's files.
	PIDFile string `yaml:"pidFile,omitempty"`
	// A regular expression over the titles of titled workers.
	Worker Pattern `yaml:"worker,omitempty"`
	// A regular expression over the titles of titled workers that drain.
	Draining Pattern `yaml:"draining,omitempty"`
}

// Pattern is a regular expression of Go's package regexp. The zero value matches nothing.
type Pattern struct{ expression *regexp.Regexp }

// NewPattern compiles a regular expression.
func NewPattern(text string) (Pattern, error) {
	compiled, err := regexp.Compile(text)
	return Pattern{compiled}, err
}

// MustPattern is NewPattern for constant expressions.
func MustPattern(text string) Pattern { return Pattern{regexp.MustCompile(text)} }

// IsZero reports whether there is no expression.
func (p Pattern) IsZero() bool { return p.expression == nil }

// Match reports whether a text contains a match.
func (p Pattern) Match(text string) bool {
	return p.expression != nil && p.expression.MatchString(text)
}

// String returns the expression, "" for the zero value.
func (p Pattern) String() string {
	if p.expression == nil {
		return ""
	}
	return p.expression.String()
}

// UnmarshalYAML compiles an expression. Its error lets the decoder continue with the rest of the file.
func (p *Pattern) UnmarshalYAML(node *yaml.Node) error {
	compiled, err := NewPattern(node.Value)
	if node.Kind != yaml.ScalarNode || err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %q is not a regular expression; see https://pkg.go.dev/regexp/syntax", node.Line, node.Value)}}
	}
	*p = compiled
	return nil
}

// MarshalYAML returns the expression.
func (p Pattern) MarshalYAML() (any, error) { return p.String(), nil }
