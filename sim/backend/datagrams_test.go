package backend

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pod that speaks UDP answers a request in a datagram as its script says, and records it.
func TestDatagrams(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: UDP, Rules: []Rule{{Path: "/teapot", Answer: Answer{Status: 418, Body: []byte("short")}}}})
	answer := func(text string, wait time.Duration) (*http.Response, string) {
		conn, err := net.Dial("udp", p.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, text)
		conn.SetReadDeadline(time.Now().Add(wait))
		answer, err := http.ReadResponse(bufio.NewReaderSize(conn, maxDatagram), nil)
		if err != nil {
			return nil, err.Error()
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
	got, body := answer("POST /teapot HTTP/1.1\r\nHost: any.example\r\nContent-Length: 2\r\n\r\nhi", 20*time.Second)
	if got == nil || got.StatusCode != 418 || body != "short" || got.Header.Get(ServiceHeader) != "demo/web" {
		t.Fatalf("answer %v, body %q", got, body)
	}
	records, err := f.Received(0)
	if err != nil || len(records) != 1 || records[0].Path != "/teapot" || string(records[0].Body) != "hi" || records[0].Port != int(p.Addr().Port()) || !records[0].Done {
		t.Errorf("records %+v with error %v", records, err)
	}
	if got, err := answer("no request\r\n\r\n", 50*time.Millisecond); got != nil || !strings.Contains(err, "timeout") {
		t.Errorf("answer %v with error %v to a datagram that is not a request, want none", got, err)
	}
}

// A pod that cannot listen for datagrams is not ready.
func TestDatagramsNeedTheirPort(t *testing.T) {
	f := newFleet(t, nil)
	p, err := f.StartScripted("demo/web-1", "demo/web", Script{Protocol: UDP})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(p.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); !errors.Is(err, syscall.EADDRINUSE) || p.State() != Starting {
		t.Errorf("error %v, state %s", err, p.State())
	}
	taken.Close()
	if err := p.Ready(); err != nil {
		t.Errorf("after the port was free: %v", err)
	}
}

// The record of a datagram says so if the pod has gone before the answer.
func TestDatagramWithoutAnswer(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: UDP, Answer: Answer{After: maxTime}})
	conn, err := net.Dial("udp", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: any.example\r\n\r\n")
	receivedThat(t, f, 1, func(Received) bool { return true })
	p.Gone()
	if records := received(t, f, 1); !strings.Contains(records[0].Failure, "the pod has gone") {
		t.Errorf("got %+v", records)
	}
}
