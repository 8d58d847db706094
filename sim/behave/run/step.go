package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/ask"
)

const (
	// arrival is how long to wait after an answer for requests that must not arrive at other pods:
	// nginx answers the client before a mirror has received its copy.
	arrival = 300 * time.Millisecond
	// patience is how long to wait after an answer for expected requests to other pods, or for
	// expected lines in a log. The full time only elapses if an expectation fails.
	patience = 5 * time.Second
	// completion is how long a pod may work on a request after the client has its answer.
	completion = 5 * time.Second
)

// step performs one step and records it.
func (s *stay) step(ctx context.Context, step behave.Step) error {
	if step.Request.Request == "" {
		change, err := s.change(ctx, step)
		if err == nil {
			s.records = append(s.records, behave.Record{Change: change})
		}
		return err
	}
	if step.Background {
		return s.begin(ctx, step)
	}
	exchanges, err := s.ask(ctx, step)
	if err == nil {
		s.records = append(s.records, behave.Record{Exchanges: exchanges})
	}
	return err
}

// wanted returns what a step expects: of ingress-nginx, and of the bundled controller.
func wanted(step behave.Step) []behave.Expect {
	all := []behave.Expect{step.Expect}
	if step.Bundled != nil {
		all = append(all, *step.Bundled)
	}
	return all
}

// change makes a change, and waits until it is live.
func (s *stay) change(ctx context.Context, step behave.Step) (*behave.Change, error) {
	logs, err := s.in.followLogs(ctx, step)
	if err != nil {
		return nil, err
	}
	made := &behave.Change{LogsUnknown: logs == nil, ReloadsUnknown: s.in.workers == nil || s.in.reloadsAlways}
	before := s.in.generation()
	err = s.perform(ctx, step)
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		made.Rejected = status.Status().Message
		return made, nil
	}
	if err == nil {
		how := noisy
		// New workers would start with the present pods. So only a change without a reload shows
		// that the old workers follow a change of pods.
		if step.Scale != nil || slices.ContainsFunc(wanted(step), func(e behave.Expect) bool { return e.Reload != nil }) {
			how = quiet
		}
		err = s.in.live(ctx, how)
	}
	if err == nil {
		err = s.in.show(s.Case)
	}
	if err != nil {
		return nil, err
	}
	made.Reloads = s.in.generation() - before
	_, made.Errors, err = logs.collect(ctx)
	return made, err
}

// perform writes the change of a step.
func (s *stay) perform(ctx context.Context, step behave.Step) error {
	switch {
	case step.Apply != "":
		for _, manifest := range s.Named(step.Apply) {
			if err := s.put(ctx, manifest); err != nil {
				return err
			}
		}
		return nil
	case step.Delete != "":
		return s.remove(ctx, step.Delete)
	case step.Scale != nil:
		for _, name := range slices.Sorted(maps.Keys(step.Scale)) {
			if err := s.scale(ctx, s.services[name], step.Scale[name]); err != nil {
				return err
			}
		}
		return nil
	}
	config := maps.Clone(s.Config)
	if config == nil {
		config = map[string]string{}
	}
	for key, value := range step.Config {
		config[key] = s.addresses(value)
	}
	return s.in.configure(ctx, config)
}

// ask sends the request of a step, and adds to the exchanges what the case's pods received.
func (s *stay) ask(ctx context.Context, step behave.Step) ([]behave.Exchange, error) {
	var all []behave.Exchange
	single := step.Request
	logs, err := s.in.followLogs(ctx, step)
	if err != nil {
		return nil, err
	}
	if single.Port != 0 {
		chosen, err := strconv.Atoi(s.ports[strconv.Itoa(single.Port)])
		if err != nil {
			return nil, err
		}
		single.Port = chosen
	}
	to := s.target()
	to.Sessions = tls.NewLRUClientSessionCache(0)
	rounds := 1
	if !single.Together && !single.KeepAlive { // one request at a time, so that receptions can be attributed
		rounds, single.Times = max(single.Times, 1), 1
	}
	for range rounds {
		since, err := s.last()
		if err != nil {
			return nil, err
		}
		exchanges, err := ask.Send(ctx, to, single)
		if err != nil {
			return nil, err
		}
		received, err := s.received(ctx, since, step)
		if err != nil {
			return nil, err
		}
		assign(exchanges, received)
		all = append(all, exchanges...)
	}
	// Expectations about logs apply to all exchanges together, so the last exchange may get all
	// lines.
	for i := range all {
		all[i].LogsUnknown = logs == nil
	}
	last := &all[len(all)-1]
	last.Access, last.Errors, err = logs.collect(ctx)
	return all, err
}

// target returns the listeners, certificates and jars for the client of a case.
func (s *stay) target() ask.Target {
	to := ask.Target{HTTP: s.in.instance.Address(), HTTPS: s.in.instance.TLS(), Certificates: map[string]tls.Certificate{}, NameOf: s.nameOf, Jars: s.jars}
	if to.HTTP.Addr().IsLoopback() { // nginx listens on the loopback address of IPv6 as well
		to.HTTP6 = netip.AddrPortFrom(netip.IPv6Loopback(), to.HTTP.Port())
		to.HTTPS6 = netip.AddrPortFrom(netip.IPv6Loopback(), to.HTTPS.Port())
	}
	for name, certificate := range s.certificates {
		to.Certificates[name] = certificate.Certificate
	}
	return to
}

// fakeCertificate is the common name of the certificate that ingress-nginx generates at its start.
const fakeCertificate = "Kubernetes Ingress Controller Fake Certificate"

// nameOf returns the name of a served certificate.
func (s *stay) nameOf(leaf *x509.Certificate) string {
	for name, certificate := range s.certificates {
		if certificate.Leaf.Equal(leaf) {
			return name
		}
	}
	if leaf.Subject.CommonName == fakeCertificate || s.in.shared != nil && leaf.Equal(s.in.shared.DefaultCertificate()) {
		return behave.Default
	}
	return ""
}

// last returns the number of the last record of the fleet.
func (s *stay) last() (int, error) {
	records, err := s.fleet.Received(s.in.seen)
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		s.in.seen = max(s.in.seen, r.Seq)
	}
	return s.in.seen, nil
}

// received returns what the case's pods have received since a record, when they have completed it.
// If the step expects requests at pods other than the answering one, received waits for them.
func (s *stay) received(ctx context.Context, since int, step behave.Step) ([]backend.Received, error) {
	began := time.Now()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		records, err := s.fleet.Received(since)
		if err != nil {
			return nil, err
		}
		records = slices.DeleteFunc(records, func(r backend.Received) bool { return !s.owns(r.Service) })
		longest := time.Duration(0)
		for _, e := range wanted(step) {
			longest = max(longest, s.awaits(e, counts(records)))
		}
		waited := time.Since(began)
		if waited > completion || done(records) && waited > longest {
			return records, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *stay) owns(key string) bool {
	for _, service := range s.services {
		if service.key() == key {
			return true
		}
	}
	return false
}

func done(records []backend.Received) bool {
	return !slices.ContainsFunc(records, func(r backend.Received) bool { return !r.Done })
}

// awaits returns how long to wait for requests that pods may still receive: those that the step
// expects, or those that it expects not to arrive.
func (s *stay) awaits(expect behave.Expect, received map[string]int) time.Duration {
	longest := time.Duration(0)
	for service, wanted := range expect.Received {
		switch {
		case received[service] < len(wanted):
			longest = max(longest, s.patience)
		case len(wanted) == 0:
			longest = max(longest, arrival)
		}
	}
	return longest
}

// counts returns how many requests each service has received.
func counts(records []backend.Received) map[string]int {
	all := map[string]int{}
	for _, r := range records {
		all[short(r.Service)]++
	}
	return all
}

// assign adds what pods received to the exchanges. Of several exchanges at the same time, each gets
// the record that its answer names, and the first one also gets all records that no answer names.
func assign(exchanges []behave.Exchange, received []backend.Received) {
	number := map[string]int{}
	for i := range exchanges {
		for _, value := range exchanges[i].Header.Values(backend.RequestHeader) {
			number[value] = i
		}
	}
	for _, r := range received {
		i, answered := number[strconv.Itoa(r.Number)]
		exchanges[i].Received = append(exchanges[i].Received, behave.Reception{
			Service: short(r.Service), Pod: short(r.Pod), At: r.At, Method: r.Method, Path: r.Path, Host: r.Host, Protocol: r.Protocol,
			Header: r.Headers, Params: r.Params, Body: r.Body, Nth: r.Nth,
			SNI: r.SNI, TLSVersion: strings.TrimPrefix(r.TLSVersion, "TLS "), TLSCipher: r.TLSCipher, ClientCertificate: r.ClientCertificate, Answered: answered,
		})
	}
}
