// Package webpagetest checks rendered pages. Its one rule: what it checks holds for every page, so that
// everybody can read a page, also with a screen reader.
package webpagetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Check reports what a reader of the page cannot know: its language, what it is about, what a column is,
// or what a plot shows.
func Check(t testing.TB, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems(root) {
		t.Errorf("the page has %s", problem)
	}
}

func problems(root *html.Node) (all []string) {
	titles := 0
	for n := range root.Descendants() {
		text := strings.TrimSpace(textOf(n))
		switch n.DataAtom {
		case atom.Html:
			if attribute(n, "lang") == "" {
				all = append(all, "no language")
			}
		case atom.Title:
			if about, _, _ := strings.Cut(text, "·"); n.Parent.DataAtom == atom.Head && strings.Trim(about, " :") != "" {
				titles++
			}
		case atom.Th:
			if text == "" || attribute(n, "scope") == "" {
				all = append(all, fmt.Sprintf("the header %q of scope %q", text, attribute(n, "scope")))
			}
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			if strings.Contains(text, "`") {
				all = append(all, fmt.Sprintf("the heading %q", text))
			}
		case atom.Svg:
			if attribute(n, "aria-hidden") != "true" && (attribute(n, "role") != "img" || attribute(n, "aria-label") == "") {
				all = append(all, "a drawing without a text")
			}
		case atom.Figure:
			if !has(n, atom.Figcaption) {
				all = append(all, "a plot without a caption")
			}
		}
	}
	if titles != 1 {
		all = append(all, "no title that says what it is about")
	}
	return all
}

func has(n *html.Node, element atom.Atom) bool {
	for d := range n.Descendants() {
		if d.DataAtom == element {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
