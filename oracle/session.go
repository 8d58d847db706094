package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// server is one of the two servers in a comparison.
type server struct {
	name   string
	url    string
	token  string // empty if not needed
	client *http.Client
	// programs are its processes, unless it runs in this process.
	programs []*program
	// stateless: it stores nothing, so benchmarks create no objects before they update them.
	stateless bool
}

// answer is the response of a server to one step.
type answer struct {
	code   int
	header http.Header
	doc    any // the body: JSON as any, other text as a string
	stream *stream
}

func (a answer) ok() bool { return a.code/100 == 2 }

// session plays a story on one server.
type session struct {
	*server
	namespace string
	saved     map[string]any
	streams   map[string]*stream
	answers   []answer
	hook      *hook
}

func newSession(s *server, namespace string, hook *hook) *session {
	session := &session{server: s, namespace: namespace, saved: map[string]any{}, streams: map[string]*stream{}, hook: hook}
	if hook != nil {
		session.saved["hook"] = hook.variables(session.whose())
	}
	return session
}

// whose returns the name of the session at the webhook server.
func (s *session) whose() string { return s.name + "/" + s.namespace }

// do plays one step and stores the answer.
func (s *session) do(ctx context.Context, st step) (answer, error) {
	if st.verb == "AWAIT" {
		err := s.await(st.target)
		s.answers = append(s.answers, answer{})
		return answer{}, err
	}
	if st.verb == "HEARD" {
		a := answer{code: http.StatusOK, doc: s.hook.reviews(s.whose())}
		s.answers = append(s.answers, a)
		return a, nil
	}
	if st.verb == "PAUSE" {
		time.Sleep(time.Second)
		s.answers = append(s.answers, answer{})
		return answer{}, nil
	}
	if st.verb == "UNTIL" || st.verb == "OUTLINE" {
		return s.until(ctx, st)
	}
	if err := s.catchUp(ctx, st); err != nil {
		return answer{}, err
	}
	req, err := s.request(ctx, st)
	if err != nil {
		return answer{}, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", s.name, err)
	}
	a := answer{code: resp.StatusCode, header: resp.Header}
	if st.verb == "WATCH" && a.ok() {
		a.stream = follow(resp)
		s.streams[st.save] = a.stream
	} else if a.doc, err = readDocument(resp); err != nil {
		return a, fmt.Errorf("%s: answer to %s: %w", s.name, req.URL, err)
	}
	if st.save != "" {
		s.saved[st.save] = a.doc
	}
	s.answers = append(s.answers, a)
	return a, nil
}

// until repeats a read until it succeeds, for changes that a server completes after its response.
// After a while it gives up without an error, as await does.
func (s *session) until(ctx context.Context, st step) (answer, error) {
	outline := st.verb == "OUTLINE"
	st.verb = http.MethodGet
	for deadline := time.Now().Add(10 * time.Second); ; {
		a, err := s.do(ctx, st)
		if err != nil || a.ok() || time.Now().After(deadline) {
			if last := len(s.answers) - 1; outline && err == nil {
				s.answers[last].doc = outlineOfOpenAPI(a.doc)
			}
			return a, err
		}
		s.answers = s.answers[:len(s.answers)-1]
		time.Sleep(50 * time.Millisecond)
	}
}

// catchUp must precede a read at any version, which the server may answer from a stale cache: it
// reads the newest version, for which the cache must wait.
func (s *session) catchUp(ctx context.Context, st step) error {
	path, query, _ := strings.Cut(st.target, "?")
	if !strings.Contains(query, "resourceVersion=0") {
		return nil
	}
	req, err := s.request(ctx, step{verb: http.MethodGet, target: path})
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (s *session) request(ctx context.Context, st step) (*http.Request, error) {
	method, target := st.verb, s.expand(st.target)
	if method == "WATCH" {
		method = http.MethodGet
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		target += separator + "watch=true"
	}
	body, err := encodeBody(st.header.Get("Content-Type"), s.expand(st.body))
	if err != nil {
		return nil, fmt.Errorf("body of %s %s: %w", st.verb, st.target, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "oracle/v1")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name := range st.header {
		req.Header.Set(name, s.expand(st.header.Get(name)))
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	return req, nil
}

// encodeBody converts a body, which is YAML or JSON in stories, to its media type.
func encodeBody(mediaType, text string) (string, error) {
	switch {
	case strings.TrimSpace(text) == "", strings.HasSuffix(mediaType, "yaml"), mediaType == "text/plain", strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		if mediaType != protobufType {
			return text, nil
		}
	}
	body, err := yaml.YAMLToJSON([]byte(text))
	if err == nil && mediaType == protobufType {
		body, err = toProtobuf(body)
	}
	return string(body), err
}

var variable = regexp.MustCompile(`\$\{([^}]+)\}|\$NS`)

// expand replaces $NS and ${name.path.in.the.answer}; missing values become empty.
func (s *session) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(v string) string {
		if v == "$NS" {
			return s.namespace
		}
		name, rest, _ := strings.Cut(v[2:len(v)-1], ".")
		return lookUp(s.saved[name], rest)
	})
}

func lookUp(doc any, path string) string {
	for _, key := range strings.Split(path, ".") {
		switch at := doc.(type) {
		case map[string]any:
			doc = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return ""
			}
			doc = at[i]
		default:
			return ""
		}
	}
	if doc == nil {
		return ""
	}
	return fmt.Sprint(doc)
}

// await waits until a stream has the given number of events. After a while it gives up without an
// error: the comparison then shows what is missing.
func (s *session) await(what string) error {
	name, number, _ := strings.Cut(what, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("AWAIT %s: want the name of a stream and a number", what)
	}
	if st := s.streams[name]; st != nil {
		st.await(n, 10*time.Second)
	}
	return nil
}

func readDocument(resp *http.Response) (any, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	mediaType := resp.Header.Get("Content-Type")
	if strings.HasPrefix(mediaType, protobufType) {
		if body, err = fromProtobuf(body); err != nil {
			return nil, err
		}
	} else if strings.HasPrefix(mediaType, "application/yaml") {
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
	} else if !strings.HasPrefix(mediaType, "application/json") {
		return string(body), nil
	}
	return parseJSON(body)
}

func parseJSON(body []byte) (any, error) {
	var doc any
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	err := decoder.Decode(&doc)
	return doc, err
}
