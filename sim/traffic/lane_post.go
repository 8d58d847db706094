package traffic

import (
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

// postLane cannot retry: POST over keep-alive connections, each request sent once. RFC
// 9110, section 9.2.2, forbids clients to repeat a POST on their own. This lane shows what
// a reload costs.
var postLane = lane{
	name: "post",
	doc:  "POST over kept connections, sent once: a client must not repeat it",
	http: &httpClient{
		method: http.MethodPost,
		body:   randomText,
		transport: func(d *dialer, a Attack) transport {
			return newOnceTransport(d, a.MaxInFlight)
		},
	},
}

// randomText returns 64 hexadecimal digits.
func randomText(r *rand.Rand) []byte {
	body := make([]byte, 32)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	return hex.AppendEncode(nil, body)
}
