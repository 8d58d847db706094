// Package web shows a run in browsers while it is running: it sends the state of the run (sim/watch)
// to a page over server-sent events. Its one rule: only users who were given the URL have access. The
// server listens on loopback, the URL contains a secret, and requests that other sites cause are
// refused.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/watch"
)

// Options describe the run to show.
type Options struct {
	Address  string // of loopback, such as 127.0.0.1:0; port 0: a free one
	Scenario *scenario.Scenario
	Run      *watch.Run
	Dir      string // the folder of the run, in which the subjects have folders with their logs
	End      func() // ends the run, as an interrupt does; may be called many times
}

// Server shows a run until it is closed.
type Server struct {
	options Options
	token   string
	address string
	http    *http.Server
	served  chan struct{} // closed when http has ended
	logs    []*logFile    // of the subjects
	page    map[string]file

	over   chan struct{} // closed when the run is over
	result Result        // set before over is closed
	once   sync.Once
}

// Result is the result of a run, as shown to its viewers.
type Result struct {
	Outcome string `json:"outcome"`
	Note    string `json:"note"`   // why, in a line
	Report  string `json:"report"` // the path of the page with the report; empty if there is none
}

// The interval between updates to browsers, and the time limit for sending one. The server
// disconnects a browser that exceeds the limit. Such a browser connects again and gets the whole
// state.
const (
	period   = time.Second
	patience = 3 * time.Second
)

// Listen starts to show a run. The error says what is wrong with the address.
func Listen(o Options) (*Server, error) {
	if err := checkLoopback(o.Address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another process: choose another port, or port 0 for a free one", o.Address)
	}
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, token: rand.Text(), address: listener.Addr().String(),
		served: make(chan struct{}), over: make(chan struct{}),
	}
	if s.page, err = render(o.Scenario); err != nil {
		listener.Close()
		return nil, err
	}
	for _, subject := range o.Scenario.Subjects {
		s.logs = append(s.logs, newLogFile(o.Dir, subject.Name))
	}
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: patience}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // it ends with Close
	}()
	return s, nil
}

// checkLoopback returns an error if an address is not one of loopback.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("want an address and a port, such as 127.0.0.1:0: %w", err)
	}
	if !isLoopback(host) {
		return fmt.Errorf("%s is not a loopback address, so anyone could end the run: use 127.0.0.1, and ssh -L from other machines", host)
	}
	return nil
}

// URL returns the address of the page, with its secret.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/%s/", s.address, s.token) }

// Close sends the result to the browsers, and ends the server. It does not wait long for slow browsers.
func (s *Server) Close(result Result) {
	s.once.Do(func() {
		s.result = result
		close(s.over)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if s.http.Shutdown(ctx) != nil {
			s.http.Close()
		}
		<-s.served
	})
}
