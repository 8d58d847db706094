package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"keep-alive", "keep-alive-requests", "limit-rps", "limit-rpm", "tls"}
	for word, want := range map[string]string{
		"keep-aliv":                 "keep-alive",
		"keep-alive-request":        "keep-alive-requests",
		"limt-rps":                  "limit-rps",
		"limit-rpx":                 "limit-rps", // two are equally close: the first
		"tlz":                       "tls",
		"abc":                       "",
		"":                          "",
		strings.Repeat("k", 10<<20): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%.30q: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("without known words: %q", got)
	}
	if got := DidYouMean("tlz", known); got != "did you mean tls?" {
		t.Errorf("the suggestion is %q", got)
	}
}
