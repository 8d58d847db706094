package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

// story is an independent sequence of requests in its own namespace.
type story struct {
	name, about string
	steps       []step
	random      bool // generated, not from a file
}

// step is a request or a command: WATCH opens a stream that is read until the end of the story;
// AWAIT waits until a stream has a number of events; UNTIL repeats a GET until it succeeds; OUTLINE
// does the same and compares only the outline of an OpenAPI document, not its descriptions; HEARD
// returns the reviews of the webhook server; PAUSE waits until the servers have noticed new
// webhooks, because no response shows this.
type step struct {
	verb   string // an HTTP method or a command
	target string // the path with its query; for AWAIT the stream's name and a number
	save   string // the name of the answer in later steps
	header http.Header
	body   string
}

func (s step) String() string {
	text := s.verb + " " + s.target
	for name, values := range s.header {
		text += "\n" + name + ": " + strings.Join(values, ", ")
	}
	if s.body != "" {
		text += "\n\n" + strings.TrimSpace(s.body)
	}
	return text
}

// readStories reads all stories in a folder, sorted by name.
func readStories(folder fs.FS) ([]story, error) {
	names, err := fs.Glob(folder, "*.txtar")
	if err != nil {
		return nil, err
	}
	var stories []story
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("reading story %s: %w", name, err)
		}
		s, err := parseStory(strings.TrimSuffix(path.Base(name), ".txtar"), text)
		if err != nil {
			return nil, err
		}
		stories = append(stories, s)
	}
	return stories, nil
}

// parseStory parses a txtar archive. The comment describes the story, and each file is a step. A
// file is named "VERB target" or "VERB target as name". It contains optional header lines, a blank
// line, and the body. Header names begin with a capital letter, unlike the fields of Kubernetes
// objects.
func parseStory(name string, text []byte) (story, error) {
	archive := txtar.Parse(text)
	s := story{name: name, about: strings.TrimSpace(string(archive.Comment))}
	for _, file := range archive.Files {
		st, err := parseStep(file.Name, string(file.Data))
		if err != nil {
			return s, fmt.Errorf("story %s: step %q: %w", name, file.Name, err)
		}
		s.steps = append(s.steps, st)
	}
	if len(s.steps) == 0 {
		return s, fmt.Errorf("story %s has no steps", name)
	}
	return s, nil
}

var verbs = map[string]bool{"GET": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true, "WATCH": true, "AWAIT": true, "HEARD": true, "UNTIL": true, "OUTLINE": true, "PAUSE": true}

// pathless are the verbs without a path.
var pathless = map[string]bool{"AWAIT": true, "HEARD": true, "PAUSE": true}

func parseStep(title, text string) (step, error) {
	title, save, _ := strings.Cut(title, " as ")
	verb, target, _ := strings.Cut(title, " ")
	st := step{verb: verb, target: target, save: save, header: http.Header{}}
	if !verbs[verb] {
		return st, fmt.Errorf("unknown verb %q", verb)
	}
	if !pathless[verb] && !strings.HasPrefix(target, "/") {
		return st, errors.New("the target must be a path that begins with /")
	}
	lines := strings.SplitAfter(text, "\n")
	for len(lines) > 0 {
		match := headerLine.FindStringSubmatch(lines[0])
		if match == nil {
			break
		}
		st.header.Add(match[1], match[2])
		lines = lines[1:]
	}
	st.body = strings.TrimPrefix(strings.Join(lines, ""), "\n")
	return st, nil
}

var headerLine = regexp.MustCompile(`^([A-Z][A-Za-z-]*): *([^\n]*)\n?$`)
