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

// story is a sequence of requests that makes sense by itself, in a namespace of its own.
type story struct {
	name, about string
	steps       []step
	random      bool // generated, not written
}

// step is one request, or one of the words of the runner: WATCH opens a stream
// that is read until the end of the story, AWAIT waits until one has so many events,
// UNTIL repeats a GET until it succeeds, OUTLINE does so and compares what an OpenAPI document
// has instead of how it words it, HEARD is what the webhook server was told, PAUSE
// lets a server notice new webhooks, of which nothing tells.
type step struct {
	verb   string // a method of HTTP, WATCH or AWAIT
	target string // the path with its query; for AWAIT the stream's name and the number
	save   string // what the answer is called in later steps
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

// readStories reads all stories of a folder, in the order of their names.
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

// parseStory reads a txtar archive. Its comment says what the story is about,
// each file is a step: named "VERB target" or "VERB target as name", with
// header lines, if any, a blank line, and the body. Header names begin with a
// capital, which no field of Kubernetes' JSON does.
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

// wordless are the verbs that are about no path.
var wordless = map[string]bool{"AWAIT": true, "HEARD": true, "PAUSE": true}

func parseStep(title, text string) (step, error) {
	title, save, _ := strings.Cut(title, " as ")
	verb, target, _ := strings.Cut(title, " ")
	st := step{verb: verb, target: target, save: save, header: http.Header{}}
	if !verbs[verb] {
		return st, fmt.Errorf("unknown verb %q", verb)
	}
	if !wordless[verb] && !strings.HasPrefix(target, "/") {
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
