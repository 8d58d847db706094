package promtext

import (
	"maps"
	"strings"
	"testing"
	"time"
)

const text = `# HELP up Whether it is up.
# TYPE up gauge
up{pod="a"} 1
up{pod="b"} 2
up_seconds 1.5
other{le="1"} not a number
`

func TestRead(t *testing.T) {
	m, err := Read(strings.NewReader(text), "up")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		labels []string
		sum    float64
		ok     bool
	}{
		{"up", nil, 3, true},
		{"up", []string{"pod=b"}, 2, true},
		{"up", []string{"pod=c"}, 0, false},
		{"other", nil, 0, false},
	} {
		if sum, ok := m.Value(test.name, test.labels...); sum != test.sum || ok != test.ok {
			t.Errorf("%s %v: %v, %v", test.name, test.labels, sum, ok)
		}
	}
	if got := m.By("up", "pod"); !maps.Equal(got, map[string]float64{"a": 1, "b": 2}) {
		t.Errorf("by pod: %v", got)
	}
	if got := m.By("up_seconds", "pod"); got != nil {
		t.Errorf("by a label that does not exist: %v", got)
	}
	if got := m.Seconds("up_seconds"); got != 1500*time.Millisecond {
		t.Errorf("seconds: %v", got)
	}
}

// A line that is asked for and cannot be parsed is an error, and so is one without an end.
func TestReadBadText(t *testing.T) {
	for name, bad := range map[string]string{"no number": text, "a long line": "other " + strings.Repeat("1", 2<<20)} {
		if _, err := Read(strings.NewReader(bad), "other"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
