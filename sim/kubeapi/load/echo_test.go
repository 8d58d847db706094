package load

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestEcho(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(Echo))
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, mediaType := range []string{JSON, Protobuf} {
		putter, err := NewPutter(conn, Slice("default", "a", 10), mediaType, "")
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(3) {
			if err := putter.Put(n); err != nil {
				t.Errorf("%s, request %d: %v", mediaType, n, err)
			}
		}
	}
	answer := httptest.NewRecorder()
	asked := httptest.NewRequest(http.MethodPut, "/a", http.NoBody)
	asked.ContentLength = 3 // more than there is
	Echo(answer, asked)
	if answer.Code != http.StatusBadRequest {
		t.Errorf("a body that ends early: got %d", answer.Code)
	}
}
