package scenario_test

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/scenario"
)

func TestNameFrom(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/shop.jsonl":               "shop",
		"Ünder score.jsonl":             "nder-score",
		"2024-01-02T03:04:05.jsonl":     "2024-01-02t03-04-05",
		"v1.2.tar":                      "v1-2-tar",
		"ÜÖÄ.jsonl":                     "file",
		strings.Repeat("a-", 40) + "b":  strings.TrimSuffix(strings.Repeat("a-", 32), "-"),
		strings.Repeat("x", 64) + ".md": strings.Repeat("x", 63),
	} {
		if got := scenario.NameFrom(path, "file", ".jsonl", ".json"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
