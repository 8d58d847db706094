package traffic

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"windtunnel.dev/sim/backend"
)

// uploadLane sends large bodies: chunked POSTs of Attack.Bytes, in pieces over Attack.Last,
// each with different bytes. The pod answers with the checksum of what reached it.
var uploadLane = lane{
	name:  "upload",
	doc:   "POST of `bytes` in chunks over `last`; the pod's checksum must match the sent bytes",
	lasts: true,
	sized: true,
	http: &httpClient{
		method:    http.MethodPost,
		body:      uploadSeed,
		grow:      newUploadBody,
		transport: keepAlive,
	},
}

// uploadSeed returns the seed of a body, 32 bytes.
func uploadSeed(r *rand.Rand) []byte {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(r.Uint32())
	}
	return seed
}

// uploadBody is a request body that is sent in pieces, with pauses between them.
type uploadBody struct {
	content io.Reader
	piece   int64 // bytes between two pauses
	pause   time.Duration
	sent    int64

	mu     sync.Mutex // http.Transport may still read after it returned the answer
	hash   hash.Hash
	once   sync.Once
	closed chan struct{}
}

func newUploadBody(a Attack, seed []byte) *uploadBody {
	piece, number := backend.Pieces(a.Bytes)
	return &uploadBody{
		content: io.LimitReader(rand.NewChaCha8([32]byte(seed)), a.Bytes),
		hash:    sha256.New(),
		piece:   piece,
		pause:   a.Last / time.Duration(number),
		closed:  make(chan struct{}),
	}
}

func (u *uploadBody) Read(b []byte) (int, error) {
	left := u.piece - u.sent%u.piece
	if u.sent > 0 && left == u.piece && !u.wait() {
		return 0, io.ErrClosedPipe
	}
	n, err := u.content.Read(b[:min(int64(len(b)), left)])
	u.sent += int64(n)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hash.Write(b[:n])
	return n, err
}

// wait pauses. It returns false if the reader closed the body.
func (u *uploadBody) wait() bool {
	timer := time.NewTimer(u.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-u.closed:
		return false
	}
}

func (u *uploadBody) Close() error {
	u.once.Do(func() { close(u.closed) })
	return nil
}

// sum returns the checksum of what was sent so far.
func (u *uploadBody) sum() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return hex.EncodeToString(u.hash.Sum(nil))
}
