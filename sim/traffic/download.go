package traffic

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"windtunnel.dev/sim/backend"
)

// downloading is the client of large answers: GETs whose answer is chunked, of
// Attack.Bytes that come over Attack.Last. The head has the checksum of what
// must come: an answer that is cut must be an error, never a short success.
var downloading = lane{
	name:   "download",
	doc:    "GET of `bytes` in chunks over `last`; their checksum must match the response header",
	method: http.MethodGet,
	ask: func(a Attack) http.Header {
		return http.Header{backend.PayloadHeader: {strconv.FormatInt(a.Bytes, 10)}, backend.TakeHeader: {a.Last.String()}}
	},
	read:      readPayload,
	transport: keepAlive,
	lasts:     true,
}

// readPayload reads the identity, a line, and checks what follows it.
func readPayload(response *http.Response, a Attack) content {
	body := bufio.NewReader(response.Body)
	identity, err := body.ReadBytes('\n')
	if err != nil {
		return content{identity: identity, err: err}
	}
	sum := sha256.New()
	n, err := io.Copy(sum, body)
	c := content{identity: bytes.TrimSpace(identity), err: err}
	if got, want := hex.EncodeToString(sum.Sum(nil)), response.Header.Get(backend.SumHeader); got != want {
		c.flaw = fmt.Sprintf("%d bytes with checksum %s came, sent were %d with %s", n, got, a.Bytes, want)
	}
	return c
}
