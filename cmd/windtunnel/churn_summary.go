package main

import (
	"fmt"
	"io"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/live"
)

// churnSummary is the summary of a churn run. Times are in nanoseconds, from the intent of a change
// until the API accepted it.
type churnSummary struct {
	Run       string         `json:"run"`
	Changes   int            `json:"changes"`
	Refused   int            `json:"refused"`
	Length    time.Duration  `json:"length"`
	P50       time.Duration  `json:"p50"`
	P90       time.Duration  `json:"p90"`
	P99       time.Duration  `json:"p99"`
	Max       time.Duration  `json:"max"`
	Behind    time.Duration  `json:"behind"` // the largest delay of a change
	LastError string         `json:"lastError,omitempty"`
	Trouble   string         `json:"trouble,omitempty"`
	KeptIn    string         `json:"keptIn,omitempty"` // the namespace, with --keep
	Recording *recordSummary `json:"recording,omitempty"`
}

// printSummary prints the summary. recorded reports whether the recording was written.
func (o churnOptions) printSummary(out io.Writer, r live.Result, recorded bool) error {
	c := churnSummary{
		Run: r.Run, Changes: r.Writes, Refused: r.Errors, Length: r.Length,
		P50: r.P50, P90: r.P90, P99: r.P99, Max: r.Max, Behind: r.Behind, LastError: r.LastError, Trouble: r.Trouble,
	}
	if o.keep {
		c.KeptIn = o.shape.Population.Namespace
	}
	if recorded {
		recording := recordSummaryOf(o.out, r.Recording)
		c.Recording = &recording
	}
	if o.format.json() {
		return printJSON(out, c)
	}
	c.print(out)
	return nil
}

func (c churnSummary) print(out io.Writer) {
	fmt.Fprintf(out, "run %s: %s in %v, %d of them refused\n", c.Run, plural.Of(c.Changes, "change"), c.Length.Round(time.Second), c.Refused)
	fmt.Fprintf(out, "time until the API accepted a change: p50 %v, p90 %v, p99 %v, max %v\n", roundDuration(c.P50), roundDuration(c.P90), roundDuration(c.P99), roundDuration(c.Max))
	if c.Behind > time.Second {
		fmt.Fprintf(out, "up to %v behind schedule: the API server accepts fewer changes per second from one client\n", roundDuration(c.Behind))
	}
	if c.LastError != "" {
		fmt.Fprintf(out, "last refusal: %s\n", c.LastError)
	}
	if c.Trouble != "" {
		fmt.Fprintf(out, "last problem with pods: %s\n", c.Trouble)
	}
	if c.KeptIn != "" {
		fmt.Fprintf(out, "kept in %s, with the label %s=%s\n", c.KeptIn, live.RunLabel, c.Run)
	}
	if c.Recording != nil {
		fmt.Fprintf(out, "%s: %s\n", c.Recording.File, plural.Of(c.Recording.Changes, "change"))
		c.Recording.printOmitted(out)
	}
}

// roundDuration rounds a duration to its significant digits.
func roundDuration(d time.Duration) time.Duration {
	if d > 100*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
