package fault

import (
	"time"

	kubefault "windtunnel.dev/sim/kubeapi/fault"
)

// ofAPI are the faults of the API server, as the controller sees it.
var ofAPI = []Fault{
	{Name: "api-watch-closed", Doc: "All watches end cleanly, like after an idle timeout of a load balancer; clients may reconnect at once.", Strikes: "watches", Needs: APIServer,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			return v.Inject(kubefault.EndedWatches(), kubefault.Scope{})
		}},
	lasting("api-half-open", "Open watches stay open but send nothing, like a connection whose peer is gone; their events arrive late.", "watches",
		during(func(time.Duration) kubefault.Fault { return kubefault.StalledWatch() })),
	lasting("api-delayed-events", "Each event reaches the watches late, by half of this time.", "batches of events",
		during(func(d time.Duration) kubefault.Fault { return kubefault.DelayedEvents(d / 2) })),
	lasting("api-429", "Every request is answered with 429 and Retry-After: 1.", "requests",
		during(func(time.Duration) kubefault.Fault { return kubefault.TooManyRequests(time.Second) }), endWatches),
	lasting("api-5xx", "Every request is answered with 503.", "requests",
		during(func(time.Duration) kubefault.Fault { return kubefault.ServerError(503, 0) }), endWatches),
	lasting("api-slow-list", "Watches end and cannot resume; the lists that clients then request take half of this time.", "lists",
		during(func(d time.Duration) kubefault.Fault { return kubefault.Delay(d / 2) }, "list", "watchlist"), forgetHistory, endWatches),
	lasting("api-empty-list", "Watches end and cannot resume; the lists that clients then request are well-formed and empty.", "lists",
		during(func(time.Duration) kubefault.Fault { return kubefault.EmptyList() }), forgetHistory, endWatches),
	lasting("api-410", "Watches end, and every attempt to resume gets 410 Gone: clients list everything again.", "watches",
		during(func(time.Duration) kubefault.Fault { return kubefault.ResumeExpired() }), endWatches),
	lasting("api-restart", "The API server stops cleanly and comes back after this time, without its history.", "watches",
		during(func(time.Duration) kubefault.Fault { return kubefault.Restart(0, false) })),
	lasting("api-crash", "The API server is gone at once, connections reset, and comes back after this time.", "watches",
		during(func(time.Duration) kubefault.Fault { return kubefault.Crash(0) })),
}

// lasting returns a fault of the API server that lasts. What follows it, such as endWatches, makes
// clients send requests that the fault strikes.
func lasting(name, doc, strikes string, begin func(Victim, time.Duration) (endFunc, error), then ...func(Victim) error) Fault {
	return Fault{Name: name, Doc: doc, Strikes: strikes, Lasts: true, Needs: APIServer, strike: func(v Victim, d time.Duration) (endFunc, error) {
		end, err := begin(v, d)
		if err != nil {
			return nil, err
		}
		for _, next := range then {
			if err := next(v); err != nil {
				end()
				return nil, err
			}
		}
		return end, nil
	}}
}

// during injects a fault: for requests with these verbs, or all if there are none.
func during(of func(time.Duration) kubefault.Fault, verbs ...string) func(Victim, time.Duration) (endFunc, error) {
	return func(v Victim, d time.Duration) (endFunc, error) {
		return v.Inject(of(d), kubefault.Scope{Verbs: verbs})
	}
}

// endWatches closes all watches that are open now.
func endWatches(v Victim) error {
	_, err := v.Inject(kubefault.EndedWatches(), kubefault.Scope{})
	return err
}

// forgetHistory makes the API server forget its history: no watch can resume.
func forgetHistory(v Victim) error {
	_, err := v.Inject(kubefault.Compaction(), kubefault.Scope{})
	return err
}
