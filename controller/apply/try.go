package apply

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"

	"windtunnel.dev/controller/plan"
)

// Refusal is the error of a configuration that nginx -t does not take. Its
// text has nginx's own words.
type Refusal struct {
	cause error
	File  string // the refused configuration
	Conf  []byte // what it holds
}

// place is how nginx ends a complaint about a line.
var place = regexp.MustCompile(`:(\d+)$`)

// Line is the line of the configuration that nginx complained about; empty if it
// named none.
func (r *Refusal) Line() string {
	found := place.FindStringSubmatch(r.cause.Error())
	if found == nil || !strings.Contains(r.cause.Error(), r.File+":") {
		return ""
	}
	number, _ := strconv.Atoi(found[1]) // digits
	lines := bytes.Split(r.Conf, []byte("\n"))
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.TrimSpace(string(lines[number-1]))
}

func (r *Refusal) Error() string {
	return r.cause.Error() + "; nginx keeps what it has, the refused configuration is " + r.File
}

// Unwrap is what the test said.
func (r *Refusal) Unwrap() error { return r.cause }

// Try asks nginx whether it would take a state, and leaves all as it is. A
// Refusal says no; any other error, that it is not known.
func (t *Target) Try(ctx context.Context, state plan.State) error {
	candidate := t.layout.Conf() + ".try"
	defer os.Remove(candidate)
	err := t.test(ctx, candidate, state)
	if restoreErr := t.restore(state); err == nil {
		err = restoreErr
	}
	return err
}

// test writes a state and has nginx read it. What was cut short is no refusal.
func (t *Target) test(ctx context.Context, candidate string, next plan.State) error {
	if err := Write(candidate, next.Conf); err != nil {
		return err
	}
	if err := t.writeBeside(next); err != nil {
		return err
	}
	err := t.nginx.Test(ctx, candidate)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &Refusal{cause: err, File: candidate, Conf: next.Conf}
}
