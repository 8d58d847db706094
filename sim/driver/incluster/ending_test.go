package incluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The error of a controller that has ended has the end of its log, in one line.
func TestEnded(t *testing.T) {
	const code = "the controller ended with code 2 (Error)"
	for log, want := range map[string]string{
		"":                            code,
		"one\n":                       code + ": one",
		"one\ntwo\n\nthree\n\tfour\n": code + ": two | three | four",
	} {
		if got := Ended(corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}, []byte(log)).Error(); got != want {
			t.Errorf("with the log %q: %s, want %s", log, got, want)
		}
	}
}
