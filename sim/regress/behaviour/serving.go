package behaviour

import (
	"context"
	"fmt"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/regress"
)

// smallest is a case that any controller answers.
const smallest = `apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: a path leads to its service
  pods: {web: {}}
  steps:
  - request: GET http://start.example/
    expect: {service: web}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: start.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
`

// tries is how often a controller may fail, because the machine may have been busy.
const tries = 2

// NotServing starts both controllers, and returns which of them do not start or serve nothing, or nil.
// Without this, each group of cases would wait for them.
func NotServing(ctx context.Context, ask Ask, progress func(stage string, done, of int)) (*regress.NotServing, error) {
	found := &regress.NotServing{}
	for _, side := range []string{regress.SideBase, regress.SideHead} {
		why, err := whyNotServing(ctx, side, ask, progress)
		switch {
		case err != nil:
			return nil, err
		case why == "":
		case found.Sides == "":
			found.Sides, found.Reason = side, why
		default:
			found.Sides = regress.SidesBoth
		}
	}
	if found.Sides == "" {
		return nil, nil //nolint:nilnil // see above
	}
	return found, nil
}

// whyNotServing returns why a side's controller does not start or serves nothing, or "".
func whyNotServing(ctx context.Context, side string, ask Ask, progress func(string, int, int)) (why string, err error) {
	c, err := behave.Parse("start/start.yaml", []byte(smallest), behave.Known{})
	if err != nil {
		return "", err
	}
	for n := range tries {
		progress("starting "+side, n, tries)
		d, err := ask(ctx, Question{Side: side, Cases: []*behave.Case{c}, Done: func(behave.Result) {}})
		if err != nil {
			return "", fmt.Errorf("starting the controller of %s: %w", side, err)
		}
		if len(d.Cases) != 1 || !d.Cases[0].NotStarted() && !d.Cases[0].NotServing() {
			return "", nil
		}
		why = d.Cases[0].Reason
	}
	return why, nil
}
