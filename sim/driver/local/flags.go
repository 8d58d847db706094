package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/command"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/subject"
)

// flagsTimeout is the time limit for a controller to print its help.
const flagsTimeout = 10 * time.Second

// flagLine matches a line of the help that pflag or flag prints: a flag with one or two
// dashes, with or without a short form in front.
var flagLine = regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-zA-Z][a-zA-Z0-9-]*)`)

// knownFlags are the flags of binaries, because a run may start the same one thousands of times.
var knownFlags sync.Map // of binaryFile to map[string]bool

// binaryFile identifies a version of a binary.
type binaryFile struct {
	path    string
	size    int64
	changed time.Time
}

// supportedFlags returns the flags of a controller's binary, from the output of its --help. A fork
// of ingress-nginx, or an older version of our controller, lacks some of our flags. It returns an
// error if the binary cannot be run or does not end. Callers must not change the map.
func supportedFlags(ctx context.Context, binary string) (map[string]bool, error) {
	info, err := os.Stat(binary)
	if err != nil { // the error of running it says more
		return askForFlags(ctx, binary)
	}
	key := binaryFile{binary, info.Size(), info.ModTime()}
	if flags, ok := knownFlags.Load(key); ok {
		return flags.(map[string]bool), nil
	}
	flags, err := askForFlags(ctx, binary)
	if err == nil {
		knownFlags.Store(key, flags)
	}
	return flags, err
}

// LacksFlag implements driver.FlagReader, for binaries whose adapter asks for their flags.
func (d Driver) LacksFlag(ctx context.Context, s subject.Subject, flag string) bool {
	a, err := adapters.Find(s.Adapter)
	if err != nil || s.IsImage() {
		return false
	}
	c, err := d.controller(ctx, a, s)
	return err == nil && adapter.Data{Help: c.help}.Lacks(flag)
}

func askForFlags(ctx context.Context, binary string) (map[string]bool, error) {
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
