package backend

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// A payload of any size is spread over the whole time.
func TestPayloadTakesItsTime(t *testing.T) {
	const take = 20 * time.Second
	for _, size := range []int64{1, 7, 39, 1000, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			answer := httptest.NewRecorder()
			began := time.Now()
			largeBody.answer(nil, answer, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), Identity{}, requested{PayloadHeader: size, TakeHeader: int64(take)})
			line := len(encoded(Identity{})) + 1
			if took := time.Since(began); took.Round(time.Millisecond) != take || answer.Body.Len() != line+int(size) {
				t.Errorf("%d bytes, want a line of %d and %d, took %v, want %v", answer.Body.Len(), line, size, took, take)
			}
		})
	}
}
