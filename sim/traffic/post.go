package traffic

import (
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

// nonReplaying is the client that cannot try again: POST over keep-alive
// connections, each request sent once. RFC 9110, section 9.2.2, forbids to
// repeat a POST on its own. What a reload costs shows here.
var nonReplaying = lane{
	name:   "post",
	doc:    "POST over kept connections, sent once: a client must not repeat it",
	method: http.MethodPost,
	body: func(r *rand.Rand) []byte {
		body := make([]byte, 32)
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		return hex.AppendEncode(nil, body)
	},
	transport: func(d *dialer, a Attack) transport {
		return &once{dial: d.dial, pool: pool{limit: a.MaxInFlight}}
	},
}
