package webpagetest

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestProblems(t *testing.T) {
	const good = "<!doctype html><html lang=en><title>A run · Windtunnel</title>"
	for page, want := range map[string][]string{
		good + "<h1>A run</h1><table><tr><th scope=col>a</table><figure><svg role=img aria-label=a></svg><figcaption>a</figcaption></figure>": nil,
		"<title> · Windtunnel</title>":          {"no language", "no title that says what it is about"},
		good + "<table><tr><th scope=col><th>a": {`the header "" of scope "col"`, `the header "a" of scope ""`},
		good + "<h2>the `code`</h2>":            {"the heading \"the `code`\""},
		good + "<figure><svg></svg></figure>":   {"a plot without a caption", "a drawing without a text"},
	} {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		if got := problems(root); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}
