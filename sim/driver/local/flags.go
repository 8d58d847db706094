package local

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"time"

	"windtunnel.dev/internal/command"
)

// flagsTimeout is the time limit for a controller to print its help.
const flagsTimeout = 10 * time.Second

// flagLine matches a line of the help that pflag or flag prints: a flag with one or two
// dashes, with or without a short form in front.
var flagLine = regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-zA-Z][a-zA-Z0-9-]*)`)

// supportedFlags returns the flags of a controller's binary, from the output of its --help. A fork
// of ingress-nginx, or an older version of our controller, lacks some of our flags. It returns an
// error if the binary cannot be run or does not end.
func supportedFlags(ctx context.Context, binary string) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, flagsTimeout)
	defer cancel()
	help, err := command.New(ctx, binary, "--help").CombinedOutput()
	// Some programs exit with an error after printing their help.
	if exit := new(exec.ExitError); ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("get the flags of the controller: %s --help: %w", binary, errors.Join(context.Cause(ctx), err))
	}
	flags := map[string]bool{}
	for _, line := range flagLine.FindAllSubmatch(help, -1) {
		flags[string(line[1])] = true
	}
	return flags, nil
}
