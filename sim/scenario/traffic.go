package scenario

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/sim/specfile"
)

// traffic checks each stream of requests.
func (c *checker) traffic() {
	for i, t := range c.Traffic {
		path := []any{"spec", "traffic", i}
		switch {
		case t.Lane == "":
			c.Problem("traffic without a lane", "add lane: NAME", path...)
		case c.known.Lanes != nil && !slices.Contains(c.known.Lanes, t.Lane):
			c.Problem("unknown lane "+t.Lane, specfile.Choose(t.Lane, "lanes", c.known.Lanes), append(path, "lane")...)
		}
		if t.Rate == 0 {
			c.Problem("traffic without a rate", "add rate: 100/s", append(path, "rate")...)
		}
		c.arrivals(t, path)
		c.length(t, append(path, "last"))
		c.size(t, append(path, "bytes"))
		c.zipf(t, append(path, "zipf"))
		if slices.Contains(c.known.StreamLanes, t.Lane) {
			c.streamLane(t, path)
		} else {
			c.hostLane(t, path)
		}
		if t.Host != "" && len(validation.IsDNS1123Subdomain(t.Host)) > 0 {
			c.Problem(fmt.Sprintf("%q is not a host", t.Host), "write a name such as demo.example.com", append(path, "host")...)
		}
	}
}

// streamLane checks the targets of a lane that connects to the ports of services.
func (c *checker) streamLane(t Traffic, path []any) {
	switch p := c.Population; {
	case p.Cluster != "":
		c.Problem("the lane "+t.Lane+" has no port to connect to: an imported cluster has none", "use a generated population with streams: true", append(path, "lane")...)
	case !p.Streams && p.Recording == "" && !c.populationUnclear(): // a recording may have streams
		c.Problem("the lane "+t.Lane+" has no port to connect to", "add streams: true to the population", append(path, "lane")...)
	}
	if t.Host != "" {
		c.Problem("a host for the lane "+t.Lane+", which connects to the ports of services", "remove it, or name one service instead: service: NAME", append(path, "host")...)
	}
}

// hostLane checks the targets of a lane that requests hosts.
func (c *checker) hostLane(t Traffic, path []any) {
	if t.Host == "" && c.Population.IsZero() {
		c.Problem("traffic without a host", "add host: NAME, or a population", path...)
	}
	if t.Host == "" && t.Service != "" {
		c.Problem("service: belongs to a host", "add host: NAME, or remove it", append(path, "service")...)
	}
}

// length checks the length of a request, which only some lanes choose.
func (c *checker) length(t Traffic, path []any) {
	switch {
	case !c.At.Has(path...):
	case t.Last <= 0:
		c.Problem(fmt.Sprintf("last: %v is not above zero", t.Last), "write a duration such as 2s", path...)
	case c.known.LastingLanes != nil && slices.Contains(c.known.Lanes, t.Lane) && !slices.Contains(c.known.LastingLanes, t.Lane):
		c.Problem("last: requests of the lane "+t.Lane+" have no chosen length", "remove it; the lanes that have are "+strings.Join(c.known.LastingLanes, ", "), path...)
	}
}

// size checks the size of a body, which only some lanes choose.
func (c *checker) size(t Traffic, path []any) {
	switch {
	case !c.At.Has(path...):
	case t.Bytes <= 0:
		c.Problem(fmt.Sprintf("a body of %d bytes", t.Bytes), "make it 1 or more", path...)
	case c.known.SizedLanes != nil && slices.Contains(c.known.Lanes, t.Lane) && !slices.Contains(c.known.SizedLanes, t.Lane):
		c.Problem("bytes: bodies of the lane "+t.Lane+" have no chosen size", "remove it; the lanes that have are "+strings.Join(c.known.SizedLanes, ", "), path...)
	}
}

// zipf checks how requests divide among several hosts or services.
func (c *checker) zipf(t Traffic, path []any) {
	switch {
	case !(t.Zipf >= 0 && t.Zipf <= MostZipf):
		c.Problem(fmt.Sprintf("zipf: %v is out of bounds", t.Zipf), fmt.Sprintf("write a number from 0, for all hosts alike, to %v; 1 is usual", MostZipf), path...)
	case t.Zipf > 0 && t.Host != "":
		c.Problem("zipf: divides requests among hosts, and host: names one", "remove one of them", path...)
	case t.Zipf > 0 && t.Service != "":
		c.Problem("zipf: divides requests among services, and service: names one", "remove one of them", path...)
	}
}

// arrivals checks the fields that decide when the requests of a stream are due.
func (c *checker) arrivals(t Traffic, path []any) {
	patterns := []string{Constant, Poisson}
	if t.Arrivals != "" && !slices.Contains(patterns, t.Arrivals) {
		c.Problem("unknown arrivals "+t.Arrivals, specfile.Choose(t.Arrivals, "arrivals", patterns), append(path, "arrivals")...)
	}
	lowest := t.Rate
	if t.Ramp != nil {
		if t.Ramp.To == 0 {
			c.Problem("a ramp without a target rate", "add to: 400/s", append(path, "ramp")...)
		}
		if t.Ramp.Over <= 0 {
			c.Problem("a ramp without a duration", "add over: 10s", append(path, "ramp")...)
		}
		lowest = min(lowest, t.Ramp.To)
	}
	if t.Sine == nil {
		return
	}
	if t.Sine.Every <= 0 {
		c.Problem("a sine without a period", "add every: 10s", append(path, "sine")...)
	}
	switch {
	case t.Sine.By == 0:
		c.Problem("a sine without an amplitude", "add by: 50/s", append(path, "sine")...)
	case t.Sine.By > lowest && lowest > 0:
		c.Problem(fmt.Sprintf("a sine of %v around a rate of %v would go below zero", t.Sine.By, lowest), "make it "+lowest.String()+" at most", append(path, "sine")...)
	}
}
