package render

import "testing"

// Common patterns stay as they are. Patterns with which PCRE may backtrack get a limit.
func TestBacktrackingIsLimited(t *testing.T) {
	for pattern, limit := range map[string]bool{
		`^/`: false, `^/api(/|$)(.*)`: false, `(?i)/a/(.*)`: false, `/a?`: false, `/[a*b]c`: false, `/a\*b`: false, `/(?:a|b)c`: false, `/[]*]a`: false, `/a{b`: false,
		`/(a+)+$`: true, `/.*b`: true, `/(a|a)*$`: true, `/a?b`: true, `/a{2,3}b`: true, `/(.*)/(.*)`: true, `/[^/]+/b`: true, `/(?:a+)b`: true,
	} {
		if got := limited(pattern); (got != pattern) != limit {
			t.Errorf("%s became %s", pattern, got)
		}
	}
	if got := limitedName("~^a+b$"); got != "~"+limitMatch+"^a+b$" {
		t.Error(got)
	}
	if got := limitedName("a.example"); got != "a.example" {
		t.Error(got)
	}
}
