package run_test

import (
	"strings"
	"testing"
)

// A lane that cannot send ends the run, and the error says only why it cannot.
func TestLaneCannotSend(t *testing.T) {
	s := &stage{t: t}
	_, err := s.play(two+`
  traffic:
  - {lane: http, rate: 1/s, host: demo.invalid}
  - {lane: no-such-lane, rate: 1/s}
`+forever, nil)
	const want = `subject a, lane no-such-lane: traffic of lane "no-such-lane": no such lane; there are `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}
