package annotations

import (
	"encoding/base64"
	"math"
)

// RateLimit contains the rate and connection limits of a client.
type RateLimit struct {
	ID             string // used in the names of the zones' variables; empty: no zones
	Name           string
	Connections    Zone
	RPS            Zone // requests per second
	RPM            Zone // requests per minute
	LimitRate      int  // KB per second
	LimitRateAfter int  // KB
	Allowlist      []string
}

// Zone is a limit and the shared memory zone with its counters.
type Zone struct {
	Name       string
	Limit      int // 0: no limit
	Burst      int
	SharedSize int // MB
}

const zoneSize = 5

// mostConnections is the maximum that nginx's limit_conn accepts.
const mostConnections = 65535

var rateLimit = Family{
	Name: "limits",
	Keys: []Key{
		{Name: "limit-connections", Doc: "Concurrent connections per client.", Risk: Low, Scope: OfLocation, Want: AtMost(mostConnections), Bad: RejectsAll, Protects: rateLimits, TurnsOn: true},
		{Name: "limit-rps", Doc: "Requests per second and client.", Risk: Low, Scope: OfLocation, Want: AtMost(math.MaxInt32), Bad: RejectsAll, Protects: rateLimits, TurnsOn: true},
		{Name: "limit-rpm", Doc: "Requests per minute and client.", Risk: Low, Scope: OfLocation, Want: AtMost(math.MaxInt32), Bad: RejectsAll, Protects: rateLimits, TurnsOn: true},
		{Name: "limit-burst-multiplier", Doc: "Burst size, as a multiple of the limit.", Risk: Low, Scope: OfLocation, Want: Between(1, 1000000), Bad: RejectsAll, Protects: rateLimits},
		{Name: "limit-rate", Doc: "Rate at which a response is sent, in KB/s; 0: no limit.", Risk: Low, Scope: OfLocation, Want: Natural, Bad: RejectsAll, Protects: rateLimits, TurnsOn: true},
		{Name: "limit-rate-after", Doc: "KB of a response after which limit-rate applies.", Risk: Low, Scope: OfLocation, Want: Natural, Bad: RejectsAll, Protects: rateLimits},
		{Name: "limit-allowlist", Aliases: []string{"limit-whitelist"}, Doc: "Clients to which the limits do not apply.", Risk: Low, Scope: OfLocation, Want: Networks, Bad: RejectsAll, Protects: rateLimits},
	},
	parse: func(r *reader, set *Set) {
		connections := max(0, r.number("limit-connections", 0))
		rps := max(0, r.number("limit-rps", 0))
		rpm := max(0, r.number("limit-rpm", 0))
		times := r.number("limit-burst-multiplier", 5)
		set.RateLimit = RateLimit{
			LimitRate:      r.number("limit-rate", r.options.Config.LimitRate),
			LimitRateAfter: r.number("limit-rate-after", r.options.Config.LimitRateAfter),
		}
		allowed := networks(r.list("limit-allowlist"))
		if connections == 0 && rps == 0 && rpm == 0 {
			return
		}
		name := r.ingress.Namespace + "_" + r.ingress.Name + "_" + string(r.ingress.UID)
		set.RateLimit.Name = name
		set.RateLimit.ID = base64.RawURLEncoding.EncodeToString([]byte(name))
		set.RateLimit.Connections = zone(name+"_conn", connections, times)
		set.RateLimit.RPS = zone(name+"_rps", rps, times)
		set.RateLimit.RPM = zone(name+"_rpm", rpm, times)
		set.RateLimit.Allowlist = allowed
	},
}

func zone(name string, limit, times int) Zone {
	return Zone{Name: name, Limit: limit, Burst: min(limit*times, math.MaxInt32), SharedSize: zoneSize}
}
