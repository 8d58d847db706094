// Package plural writes numbers of things. It stands below all that tells
// people how many there are. Its one rule: one is never "1 runs".
package plural

import "strconv"

// Of is a number and what it counts: "1 run", "2 runs". The plural is one with an
// s, or as told: Of(2, "ingress", "ingresses").
func Of(n int, one string, many ...string) string {
	return strconv.Itoa(n) + " " + Noun(n, one, many...)
}

// Noun is Of without the number.
func Noun(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return one
	case len(many) > 0:
		return many[0]
	}
	return one + "s"
}
