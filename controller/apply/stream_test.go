package apply

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// streamTarget returns a target whose stream port belongs to the test. The port reads a line from
// each connection and replies with the next of the answers.
func streamTarget(t *testing.T, answers ...string) (target *Target, lines <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	received := make(chan string, len(answers))
	go func() {
		for _, answer := range answers {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			received <- line
			fmt.Fprint(conn, answer)
			conn.Close()
		}
	}()
	return New(Options{
		StreamPort: listener.Addr().(*net.TCPAddr).Port,
		Retry:      wait.Backoff{Steps: 2, Duration: time.Millisecond},
	}), received
}

func TestStreamLineIsSentUntilAccepted(t *testing.T) {
	target, lines := streamTarget(t, "error: dictionary is full", "")
	var report Report
	if err := target.sendStream(t.Context(), []byte(`[{"name":"tcp"}]`), &report); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if line := <-lines; line != "[{\"name\":\"tcp\"}]\r\n" {
			t.Errorf("sent %q", line)
		}
	}
	if len(report.Posts) != 1 || report.Posts[0].Path != "stream" {
		t.Errorf("reported %+v", report.Posts)
	}
}

func TestStreamLineThatIsRejected(t *testing.T) {
	target, _ := streamTarget(t, "error: dictionary is full", "error: dictionary is full")
	var complaints []Complaint
	target.complain = func(c Complaint) { complaints = append(complaints, c) }
	var report Report
	err := target.sendStream(t.Context(), []byte("[]"), &report)
	if err == nil || !strings.Contains(err.Error(), "dictionary is full") || len(report.Posts) > 0 {
		t.Errorf("error %v, report %+v", err, report)
	}
	one := Complaint{"stream", "error: dictionary is full"}
	if want := []Complaint{one, one}; !slices.Equal(complaints, want) {
		t.Errorf("complaints %v, want %v", complaints, want)
	}
}
