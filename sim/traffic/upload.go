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
)

// uploading is the client that sends large bodies: chunked POSTs of
// Attack.Bytes, bit by bit over Attack.Last, each of other bytes. The pod's
// answer has the checksum of what reached it.
var uploading = lane{
	name:   "upload",
	doc:    "POST of `bytes` in chunks over `last`; the pod's checksum must match the sent bytes",
	method: http.MethodPost,
	body: func(r *rand.Rand) []byte {
		seed := make([]byte, 32)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		return seed
	},
	grow: func(a Attack, seed []byte) *upload {
		return &upload{
			content: io.LimitReader(rand.NewChaCha8([32]byte(seed)), a.Bytes),
			hash:    sha256.New(),
			piece:   max(a.Bytes/uploadPieces, 1),
			pause:   a.Last / uploadPieces,
			closed:  make(chan struct{}),
		}
	},
	transport: keepAlive,
	lasts:     true,
}

// uploadPieces is how many parts a body is sent in.
const uploadPieces = 20

// upload is a body that takes its time.
type upload struct {
	content io.Reader
	piece   int64 // bytes until the next pause
	pause   time.Duration
	sent    int64

	mu     sync.Mutex // http.Transport may still read when it has answered
	hash   hash.Hash
	once   sync.Once
	closed chan struct{}
}

func (u *upload) Read(b []byte) (int, error) {
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

// wait pauses; false: nobody reads any more.
func (u *upload) wait() bool {
	timer := time.NewTimer(u.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-u.closed:
		return false
	}
}

func (u *upload) Close() error {
	u.once.Do(func() { close(u.closed) })
	return nil
}

// sum is the checksum of what was sent so far.
func (u *upload) sum() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return hex.EncodeToString(u.hash.Sum(nil))
}
