package traffic

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// A body of any size is sent over the time that the attack sets, except for a pause after its last piece.
func TestUploadLasts(t *testing.T) {
	const last = 20 * time.Second
	for _, size := range []int64{1, 7, 39, 1000, defaultBytes} {
		synctest.Test(t, func(t *testing.T) {
			body := newUploadBody(Attack{Bytes: size, Last: last}, make([]byte, 32))
			began := time.Now()
			n, err := io.Copy(io.Discard, body)
			if took := time.Since(began); n != size || err != nil || took < 9*last/10 || took > last {
				t.Errorf("%d of %d bytes took %v, with error %v", n, size, took, err)
			}
		})
	}
}
