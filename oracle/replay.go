package main

import (
	"context"
	"fmt"
	"strings"
)

// replayer plays stories on both servers, one request at a time.
type replayer struct {
	ours, real    *server
	managedFields bool
	findings      *findings
	hook          *hook // nil: stories with webhooks cannot be played
}

// outcome is the result of one story.
type outcome struct {
	story             story
	requests, events  int
	allowed, unlisted int
	stopped           string // the step at which the servers diverged, empty if none
}

// play plays one story. A random story stops if one server accepted a request that the other
// rejected: after that, they have different objects.
func (r *replayer) play(ctx context.Context, s story) (outcome, error) {
	out := outcome{story: s}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	namespace := "story-" + s.name
	ours, real := newSession(r.ours, namespace, r.hook), newSession(r.real, namespace, r.hook)
	for _, session := range []*session{ours, real} {
		if err := session.makeNamespace(ctx); err != nil {
			return out, err
		}
	}
	for _, st := range s.steps {
		a, b, err := both(ctx, ours, real, st)
		if err != nil {
			return out, fmt.Errorf("story %s: %s: %w", s.name, st.verb+" "+st.target, err)
		}
		if !pathless[st.verb] {
			out.requests++
		}
		if s.random && a.ok() != b.ok() {
			out.stopped = st.verb + " " + st.target
			break
		}
	}
	for name, st := range ours.streams {
		if other := real.streams[name]; other != nil && out.stopped == "" {
			settle(st, other)
		}
	}
	r.compare(&out, ours.answers, real.answers)
	return out, nil
}

func both(ctx context.Context, ours, real *session, st step) (a, b answer, err error) {
	done := make(chan error, 1)
	go func() {
		var err error
		b, err = real.do(ctx, st)
		done <- err
	}()
	a, err = ours.do(ctx, st)
	if other := <-done; err == nil {
		err = other
	}
	return a, b, err
}

func (r *replayer) compare(out *outcome, ours, real []answer) {
	ourDocs, realDocs := normalise(documents(ours), documents(real), r.managedFields)
	for i := range ours {
		if ours[i].stream != nil && out.stopped != "" {
			continue
		}
		if ours[i].stream != nil {
			out.events += len(ours[i].stream.events())
		}
		for _, d := range compareStep(out.story, out.story.steps[i], ours[i], real[i], ourDocs[i], realDocs[i]) {
			if r.findings.add(d) {
				out.allowed++
			} else {
				out.unlisted++
			}
		}
	}
}

func documents(answers []answer) []any {
	var docs []any
	for _, a := range answers {
		docs = append(docs, a.comparable())
	}
	return docs
}

// makeNamespace creates the namespace of a story with its service account, which a controller
// would create.
func (s *session) makeNamespace(ctx context.Context) error {
	for _, st := range []step{
		{verb: "POST", target: "/api/v1/namespaces", body: "apiVersion: v1\nkind: Namespace\nmetadata: {name: $NS}"},
		{verb: "POST", target: "/api/v1/namespaces/$NS/serviceaccounts", body: "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default}"},
	} {
		req, err := s.request(ctx, st)
		if err != nil {
			return err
		}
		resp, err := s.client.Do(req)
		if err != nil {
			return fmt.Errorf("%s: creating namespace %s: %w", s.name, s.namespace, err)
		}
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			return fmt.Errorf("%s: creating namespace %s: %s", s.name, s.namespace, strings.ToLower(resp.Status))
		}
	}
	return nil
}
