package simulate

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Lost counts the requests that a run loses, by cause.
type Lost struct {
	Reload   float64 // on connections that a reload closed
	Departed float64 // sent to pods that had left
	Cut      float64 // streams that the shutdown timeout ended
}

// Sum returns all lost requests.
func (l Lost) Sum() float64 { return l.Reload + l.Departed + l.Cut }

// loseByReload counts the requests that a reload loses.
func (s *simulation) loseByReload() {
	rate := 0.0
	for _, lane := range s.in.Traffic {
		if !lane.Repeats && !lane.New && lane.Last == 0 {
			rate += lane.Rate
		}
	}
	s.out.Lost.Reload += s.poisson(rate * s.costs[LostByReload].At(Size{Fixed: 1}))
}

// views is the number of workers whose view of the pods is simulated. They begin to serve a change
// at even intervals between the first worker and the last.
const views = 4

// tries is how many pods nginx tries for a request (proxy-next-upstream-tries).
const tries = 3

// departed counts the requests that nginx sends only to pods that are gone. A service gets the same
// share of the requests as any other one that has an ingress.
func (s *simulation) departed(end time.Duration) float64 {
	rate := 0.0
	for _, lane := range s.in.Traffic {
		rate += lane.Rate
	}
	served := min(s.in.Cluster.Services, s.in.Cluster.Ingresses)
	if rate == 0 || served == 0 {
		return 0
	}
	sum := 0.0
	for view := range views {
		gone := map[int][]moment{}
		for _, c := range s.changes {
			if c.kind != RollingUpdate || c.service >= served {
				continue
			}
			from, to := c.at+c.drain, end
			if c.last != none {
				to = c.first + (c.last-c.first)*(2*time.Duration(view)+1)/(2*views)
			}
			if from < to {
				gone[c.service] = append(gone[c.service], moment{from, 1}, moment{to, -1})
			}
		}
		for _, service := range slices.Sorted(maps.Keys(gone)) {
			sum += allGone(gone[service], s.podsPerService())
		}
	}
	return sum / views * rate / float64(served)
}

// moment is a time at which pods of a service end, or at which nginx learns that they have.
type moment struct {
	at   time.Duration
	gone int
}

// allGone returns the seconds in which requests to a service fail, weighted by the share of its
// requests that fail.
func allGone(moments []moment, pods int) float64 {
	slices.SortFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	sum, gone := 0.0, 0
	for i, m := range moments {
		if i > 0 {
			sum += share(gone, pods) * (m.at - moments[i-1].at).Seconds()
		}
		gone += m.gone
	}
	return sum
}

// share returns the share of requests for which nginx tries only pods that are gone.
func share(gone, pods int) float64 {
	if gone >= pods {
		return 1
	}
	share := 1.0
	for try := range min(tries, pods) {
		share *= max(0, float64(gone-try)/float64(pods-try))
	}
	return share
}
