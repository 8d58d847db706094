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
	apiFault("api-half-open", "Open watches stay open but send nothing, like a connection whose peer is gone; their events arrive late.", "watches",
		inject(func(time.Duration) kubefault.Fault { return kubefault.StalledWatch() })),
	apiFault("api-delayed-events", "Each event reaches the watches late, by half of this time.", "batches of events",
		inject(func(d time.Duration) kubefault.Fault { return kubefault.DelayedEvents(d / 2) })),
	apiFault("api-429", "Every request is answered with 429 and Retry-After: 1.", "requests",
		inject(func(time.Duration) kubefault.Fault { return kubefault.TooManyRequests(time.Second) }), endWatches),
	apiFault("api-5xx", "Every request is answered with 503.", "requests",
		inject(func(time.Duration) kubefault.Fault { return kubefault.ServerError(503, 0) }), endWatches),
	apiFault("api-slow-list", "Watches end and cannot resume; the lists that clients then request take half of this time.", "lists",
		inject(func(d time.Duration) kubefault.Fault { return kubefault.Delay(d / 2) }, "list", "watchlist"), forgetHistory, endWatches),
	apiFault("api-empty-list", "Watches end and cannot resume; the lists that clients then request are well-formed and empty.", "lists",
		inject(func(time.Duration) kubefault.Fault { return kubefault.EmptyList() }), forgetHistory, endWatches),
	apiFault("api-410", "Watches end, and every attempt to resume gets 410 Gone: clients list everything again.", "watches",
		inject(func(time.Duration) kubefault.Fault { return kubefault.ResumeExpired() }), endWatches),
	apiFault("api-restart", "The API server stops cleanly and comes back after this time, without its history.", "watches",
		inject(func(time.Duration) kubefault.Fault { return kubefault.Restart(0, false) })),
	apiFault("api-crash", "The API server is gone at once, connections reset, and comes back after this time.", "watches",
		inject(func(time.Duration) kubefault.Fault { return kubefault.Crash(0) })),
}

// apiFault returns a fault of the API server that lasts. The functions in then, such as endWatches, run
// after begin, and make clients send requests that the fault strikes.
func apiFault(name, doc, strikes string, begin func(Victim, time.Duration) (endFunc, error), then ...func(Victim) error) Fault {
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

// inject injects a fault: for requests with these verbs, or all if there are none.
func inject(of func(time.Duration) kubefault.Fault, verbs ...string) func(Victim, time.Duration) (endFunc, error) {
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
