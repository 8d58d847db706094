package incluster

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Ended returns the error of a controller whose container has ended, with the last lines of its log.
func Ended(how corev1.ContainerStateTerminated, log []byte) error {
	text := "the controller ended with " + Ending(how)
	if last := lastLines(log); last != "" {
		text += ": " + last
	}
	return errors.New(text)
}

// lastLines returns the last lines of a log that are not empty, as one line.
func lastLines(log []byte) string {
	const most = 3
	var lines []string
	for line := range strings.Lines(string(log)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], " | ")
}

// Ending describes how a container ended, such as "code 137 (OOMKilled)", in one line.
func Ending(how corev1.ContainerStateTerminated) string {
	why := how.Reason
	if how.Message != "" {
		why += ": " + strings.Join(strings.Fields(how.Message), " ")
	}
	return fmt.Sprintf("code %d (%s)", how.ExitCode, why)
}
