package regress

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// changes are the lines of the templates that differ.
type changes struct {
	base, head         map[Site]bool
	baseText, headText map[string][]string // the lines of the files
}

// hunk matches the header of a hunk of a unified diff.
var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// changedLines compares the files of two templates.
func changedLines(base, head map[string]string) changes {
	c := changes{base: map[Site]bool{}, head: map[Site]bool{}, baseText: lines(base), headText: lines(head)}
	for name := range union(base, head) {
		text := string(diff.Diff("base", []byte(ended(base[name])), "head", []byte(ended(head[name]))))
		was, is := 0, 0
		for line := range strings.Lines(text) {
			if found := hunk.FindStringSubmatch(line); found != nil {
				fmt.Sscan(found[1]+" "+found[2], &was, &is)
				continue
			}
			switch {
			case was == 0 && is == 0: // the header
			case strings.HasPrefix(line, "-"):
				c.base[Site{name, was}] = true
				was++
			case strings.HasPrefix(line, "+"):
				c.head[Site{name, is}] = true
				is++
			case strings.HasPrefix(line, " "):
				was++
				is++
			}
		}
	}
	return c
}

// ended returns a text that ends in a line break, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

func lines(files map[string]string) map[string][]string {
	all := map[string][]string{}
	for name, text := range files {
		all[name] = strings.Split(text, "\n")
	}
	return all
}

func textAt(texts map[string][]string, s Site) string {
	if all := texts[s.File]; s.Line >= 1 && s.Line <= len(all) {
		return strings.TrimSpace(all[s.Line-1])
	}
	return ""
}

// any reports whether the templates differ at all.
func (c changes) any() bool { return len(c.base)+len(c.head) > 0 }
