package specfile

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Checker reports values that decode but are not valid. It adds no problems to lines that did not decode,
// because they would be guesses.
type Checker struct {
	At       Position
	problems *Problems
	broken   map[int]bool // the lines that did not decode
}

// NewChecker returns a checker of a document that has been decoded. found has the problems of the decoding;
// the checker adds its own.
func NewChecker(at Position, found *Problems) *Checker {
	c := &Checker{At: at, problems: found, broken: map[int]bool{}}
	for _, problem := range found.Found {
		c.broken[problem.Line] = true
	}
	return c
}

// Problem adds a problem at the line of a path.
func (c *Checker) Problem(what, mend string, path ...any) {
	c.ProblemAt(c.At.Line(path...), what, mend)
}

// ProblemAt adds a problem at a line.
func (c *Checker) ProblemAt(line int, what, mend string) {
	if !c.broken[line] {
		c.problems.Add(line, what, mend)
	}
}

// Broken reports whether a line did not decode.
func (c *Checker) Broken(line int) bool { return c.broken[line] }

// BrokenWithin reports whether a line of the node at a path, or of a node below it, did not decode.
func (c *Checker) BrokenWithin(path ...any) bool {
	line, node := c.At.Find(path...)
	return c.broken[line] || c.brokenBelow(node)
}

func (c *Checker) brokenBelow(node *yaml.Node) bool {
	return slices.ContainsFunc(node.Content, func(child *yaml.Node) bool { return c.broken[child.Line] || c.brokenBelow(child) })
}

// Failed reports whether there are problems.
func (c *Checker) Failed() bool { return len(c.problems.Found) > 0 }
