package apply

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/plan"
)

// Rejection is the error of a configuration that nginx -t rejects. Its text contains nginx's
// message.
type Rejection struct {
	cause error
	File  string    // the rejected configuration
	Conf  conf.Text // its content
}

// lineNumber matches the line number at the end of nginx's messages.
var lineNumber = regexp.MustCompile(`:(\d+)$`)

// Number returns the number, from 1, of the configuration line that nginx complained about; 0 if
// nginx named none.
func (r *Rejection) Number() int {
	found := lineNumber.FindStringSubmatch(r.cause.Error())
	if found == nil || !strings.Contains(r.cause.Error(), r.File+":") {
		return 0
	}
	number, _ := strconv.Atoi(found[1]) // digits
	return number
}

// Line returns the configuration line that nginx complained about; empty if nginx named none.
func (r *Rejection) Line() string {
	number := r.Number()
	lines := bytes.Split(r.Conf.Bytes(), []byte("\n"))
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.TrimSpace(string(lines[number-1]))
}

func (r *Rejection) Error() string {
	return r.cause.Error() + "; nginx keeps its present configuration, the rejected one is " + r.File
}

// Unwrap returns the error of nginx -t.
func (r *Rejection) Unwrap() error { return r.cause }

// Try checks whether nginx would accept a state, without changing the running one. The error is a
// *Rejection if nginx would not; any other error means that the check could not run. Like Do, it is
// not safe for concurrent use.
func (t *Target) Try(ctx context.Context, state plan.State) error {
	candidate := t.layout.Conf() + ".try"
	defer os.Remove(candidate)
	err := t.test(ctx, candidate, state)
	if restoreErr := t.restore(state); err == nil {
		err = restoreErr
	}
	return err
}

// test writes a state and runs nginx -t on it. A test that could not start, or that ctx or a signal
// interrupts, is not a rejection.
func (t *Target) test(ctx context.Context, candidate string, next plan.State) error {
	if err := t.write(candidate, next); err != nil {
		return err
	}
	err := t.nginx.Test(ctx, candidate)
	if err == nil || ctx.Err() != nil || nginx.Undecided(err) {
		return err
	}
	return &Rejection{cause: err, File: candidate, Conf: next.Conf}
}
