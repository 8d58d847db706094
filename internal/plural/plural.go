// Package plural formats a number with its noun, for messages. Its one rule: the
// noun agrees with the number, as in "1 run" and "2 runs".
package plural

import "strconv"

// Of returns a number and its noun: "1 run", "2 runs". The plural is the singular plus s, unless it
// is given: Of(2, "ingress", "ingresses").
func Of(n int, one string, many ...string) string {
	return strconv.Itoa(n) + " " + Noun(n, one, many...)
}

// Noun returns the noun that agrees with the number, without the number.
func Noun(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return one
	case len(many) > 0:
		return many[0]
	}
	return one + "s"
}
