package incluster

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/sim/subject"
)

// Ended returns the error of a controller whose container has ended, with the last line of its log.
func Ended(how corev1.ContainerStateTerminated, log []byte) error {
	text := "the controller ended with " + Ending(how)
	var tail subject.Tail
	tail.Write(log)
	if last := tail.Last(); last != "" {
		text += ": " + last
	}
	return errors.New(text)
}

// Ending describes how a container ended, such as "code 137 (OOMKilled)", in one line.
func Ending(how corev1.ContainerStateTerminated) string {
	why := how.Reason
	if how.Message != "" {
		why += ": " + strings.Join(strings.Fields(how.Message), " ")
	}
	return fmt.Sprintf("code %d (%s)", how.ExitCode, why)
}
