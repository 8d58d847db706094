package specfile

// Checker reports values that decode but are not valid. Lines that did not decode keep the problem that
// they have, because a further one would be a guess.
type Checker struct {
	At       Position
	problems *Problems
	broken   map[int]bool // the lines that did not decode
}

// NewChecker returns a checker of a document that has been decoded. found are the problems of that, to
// which the checker adds its own.
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

// Failed reports whether there are problems.
func (c *Checker) Failed() bool { return len(c.problems.Found) > 0 }
