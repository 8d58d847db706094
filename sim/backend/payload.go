package backend

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

const (
	// PayloadHeader asks for a large answer: the number of bytes that follow the identity in the
	// body, which is then chunked. They are spread over the time of TakeHeader.
	PayloadHeader = "X-Windtunnel-Payload"
	// SumHeader of the answer is the SHA-256 of these bytes in hexadecimal.
	SumHeader = "X-Windtunnel-Sum"
)

// largeBody answers with the identity, a line break and that many bytes, in chunks. The bytes are
// the same for the same number, so that the answer's header can have their checksum.
var largeBody = behaviour{header: PayloadHeader, parse: count(" of bytes", 1<<30), answer: func(p *pod, w http.ResponseWriter, r *http.Request, identity Identity, a requested) {
	bytes := a[PayloadHeader]
	sum := sha256.New()
	if _, err := io.Copy(sum, payload(bytes)); err != nil {
		panic(err) // neither end can fail
	}
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(SumHeader, hexOf(sum))
	if !push(w, r, string(encoded(identity))+"\n", 0) {
		return
	}
	content := payload(bytes)
	size, number := Pieces(bytes)
	for range number {
		part, err := io.ReadAll(io.LimitReader(content, size))
		if err != nil || !push(w, r, string(part), a.answerTime()/time.Duration(number)) {
			return
		}
	}
}}

// Pieces returns the size and the number of the pieces in which a body of that many bytes, above 0, is
// sent. The last piece may be smaller.
func Pieces(bytes int64) (size, number int64) {
	size = (bytes + pieces - 1) / pieces
	return size, (bytes + size - 1) / size
}

// payload returns n bytes that look random and are always the same.
func payload(n int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte([]byte(strings.Repeat("windtunnel", 4)[:32]))), n)
}
