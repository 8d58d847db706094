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

// downloadLane requests large answers: chunked bodies of Attack.Bytes that come over
// Attack.Last. The header has the checksum of the body: an answer that is cut must be an
// error, never a short success.
var downloadLane = lane{
	name:  "download",
	doc:   "GET of `bytes` in chunks over `last`; their checksum must match the response header",
	lasts: true,
	sized: true,
	http: &httpClient{
		method: http.MethodGet,
		header: func(a Attack) http.Header {
			return http.Header{backend.PayloadHeader: {strconv.FormatInt(a.Bytes, 10)}, backend.TakeHeader: {a.Last.String()}}
		},
		read:      readDownload,
		transport: keepAlive,
	},
}

// readDownload reads the identity, which is the first line, and checks the rest.
func readDownload(response *http.Response, a Attack) content {
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
