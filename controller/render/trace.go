package render

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"

	"windtunnel.dev/controller/model"
)

// Site is a line of a template.
type Site struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
}

func (s Site) String() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Origin lists the template lines that wrote a piece of nginx.conf: first the line with the text or
// the action, then the lines of the enclosing if, range and with, then the line that called its
// template, with its enclosing lines, and so on up to the main template.
type Origin []Site

// Trace contains the origins of the lines of an nginx.conf. A line can have several origins; lines
// that the template did not write have none.
type Trace struct {
	origins []Origin
	lines   [][]int // for each line, indexes in origins
}

// Of returns the origins of a line of nginx.conf, counted from 1.
func (t Trace) Of(line int) []Origin {
	if line < 1 || line > len(t.lines) {
		return nil
	}
	var all []Origin
	for _, i := range t.lines[line-1] {
		all = append(all, t.origins[i])
	}
	return all
}

// RenderTraced returns the result of Render, and the origins of its lines. It takes about twice as
// long as Render.
func RenderTraced(m *model.Model, in Input) ([]byte, Trace, error) {
	if in.Template == nil {
		in.Template = ours
		conf, trace, err := renderTraced(m, in, indent)
		return conf, trace, err
	}
	return renderTraced(m, in, func(text []byte) []byte { return adapt(indent(text), in) })
}

func renderTraced(m *model.Model, in Input, finish func([]byte) []byte) ([]byte, Trace, error) {
	marked, sites, err := in.Template.marked()
	if err != nil {
		return nil, Trace{}, err
	}
	root := newRoot(m, in)
	var text bytes.Buffer
	if err := marked.Execute(&text, root); err != nil {
		return nil, Trace{}, in.Template.readable(err)
	}
	d := decoder{sites: sites, known: map[place]int{}, calls: []call{{parent: -1}}}
	conf, trace := d.split(finish(d.annotate(text.Bytes())))
	return conf, trace, nil
}

// Marks are written into the output between two control characters, which no configuration
// contains. A mark consists of its kind and the number of the node.
const (
	markBegin, markEnd = '\x01', '\x02'

	markHere   = '='
	markCall   = '('
	markReturn = ')'
)

// marked returns a copy of the template that writes a mark before each line of text and each
// action, and around each template call. It also returns, by node number, the sites of the node and
// of its enclosing nodes in the same template.
func (t *Template) marked() (*template.Template, []Origin, error) {
	copied, err := t.parsed.Clone()
	if err != nil {
		return nil, nil, err
	}
	m := marker{texts: map[string]string{}, folder: t.folder}
	for _, f := range t.files {
		m.texts[t.parseName(f.name)] = f.text
	}
	for _, one := range copied.Templates() {
		if one.Tree == nil || one.Root == nil {
			continue
		}
		tree := one.Tree.Copy()
		m.file = tree.ParseName
		m.list(tree.Root, nil)
		if _, err := copied.AddParseTree(one.Name(), tree); err != nil {
			return nil, nil, err
		}
	}
	return copied.Lookup(t.parsed.Name()), m.sites, nil
}

// parseName returns the name of a file in package parse.
func (t *Template) parseName(file string) string {
	if t.folder == "" && len(t.files) == 1 {
		return file
	}
	return path.Base(file)
}

// marker adds marks to the trees of templates.
type marker struct {
	texts  map[string]string // of the files, by their names for package parse
	folder string
	file   string // of the current tree
	sites  []Origin
}

func (m *marker) list(list *parse.ListNode, around Origin) {
	if list == nil {
		return
	}
	var nodes []parse.Node
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			n.Text = m.text(n, around)
		case *parse.ActionNode:
			nodes = append(nodes, m.mark(markHere, n.Pos, around))
		case *parse.TemplateNode:
			nodes = append(nodes, m.mark(markCall, n.Pos, around), n, m.mark(markReturn, n.Pos, around))
			continue
		case *parse.IfNode:
			m.branches(&n.BranchNode, around)
		case *parse.RangeNode:
			m.branches(&n.BranchNode, around)
		case *parse.WithNode:
			m.branches(&n.BranchNode, around)
		}
		nodes = append(nodes, node)
	}
	list.Nodes = nodes
}

func (m *marker) branches(n *parse.BranchNode, around Origin) {
	inner := append(Origin{m.site(n.Pos)}, around...)
	m.list(n.List, inner)
	m.list(n.ElseList, inner)
}

// text returns a text with a mark before each non-blank line.
func (m *marker) text(n *parse.TextNode, around Origin) []byte {
	var out []byte
	at := n.Pos
	for line := range bytes.Lines(n.Text) {
		if len(bytes.TrimSpace(line)) > 0 {
			out = append(out, m.code(markHere, at, around)...)
		}
		out = append(out, line...)
		at += parse.Pos(len(line))
	}
	return out
}

func (m *marker) mark(what byte, at parse.Pos, around Origin) parse.Node {
	return &parse.TextNode{NodeType: parse.NodeText, Pos: at, Text: m.code(what, at, around)}
}

func (m *marker) code(what byte, at parse.Pos, around Origin) []byte {
	m.sites = append(m.sites, append(Origin{m.site(at)}, around...))
	return fmt.Appendf(nil, "%c%c%d%c", markBegin, what, len(m.sites)-1, markEnd)
}

func (m *marker) site(at parse.Pos) Site {
	text := m.texts[m.file]
	return Site{File: path.Join(m.folder, m.file), Line: 1 + strings.Count(text[:min(int(at), len(text))], "\n")}
}

// place is a template node in a chain of calls.
type place struct{ call, node int }

// call is a template call.
type call struct{ parent, node int }

// decoder reads marks.
type decoder struct {
	sites []Origin
	calls []call
	known map[place]int // indexes in origins; calls have the node -1-node
	trace Trace
}

// lineMark begins the comment at the end of a line with the indexes of its origins.
const lineMark = " #@"

// annotate removes the marks and adds a comment with the origins to each line.
func (d *decoder) annotate(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text))
	entered := map[call]int{}
	now, current := 0, -1 // the current call and origin
	var line []int
	for i := 0; i < len(text); i++ {
		if what, node, length := d.mark(text[i:]); length > 0 {
			switch what {
			case markHere:
				current = d.origin(place{now, node})
			case markCall:
				next := call{now, node}
				if _, ok := entered[next]; !ok {
					d.calls = append(d.calls, next)
					entered[next] = len(d.calls) - 1
				}
				now = entered[next]
			case markReturn:
				now = max(d.calls[now].parent, 0)
			}
			i += length - 1
			continue
		}
		switch text[i] {
		case '\n':
			writeLineMark(&out, line)
			line = line[:0]
		case ' ', '\t', '\r':
		default:
			if current >= 0 && !slices.Contains(line, current) {
				line = append(line, current)
			}
		}
		out.WriteByte(text[i])
	}
	writeLineMark(&out, line)
	return out.Bytes()
}

// mark parses the mark at the beginning of a text. The length is 0 if there is none.
func (d *decoder) mark(text []byte) (what byte, node, length int) {
	if text[0] != markBegin || len(text) < 4 {
		return 0, 0, 0
	}
	end := bytes.IndexByte(text, markEnd)
	if end < 3 {
		return 0, 0, 0
	}
	node, err := strconv.Atoi(string(text[2:end]))
	if err != nil || node < 0 || node >= len(d.sites) {
		return 0, 0, 0 // a value contains the control character
	}
	return text[1], node, end + 1
}

func writeLineMark(out *bytes.Buffer, line []int) {
	for i, origin := range line {
		if i == 0 {
			out.WriteString(lineMark)
		} else {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Itoa(origin))
	}
}

// origin returns the index of a place's origin.
func (d *decoder) origin(p place) int {
	if known, ok := d.known[p]; ok {
		return known
	}
	all := slices.Clone(d.sites[p.node])
	for c := d.calls[p.call]; c.parent >= 0; c = d.calls[c.parent] {
		all = append(all, d.sites[c.node]...)
	}
	d.trace.origins = append(d.trace.origins, all)
	d.known[p] = len(d.trace.origins) - 1
	return d.known[p]
}

// split removes the comments that annotate added.
func (d *decoder) split(conf []byte) ([]byte, Trace) {
	out := make([]byte, 0, len(conf))
	for line := range bytes.Lines(conf) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var origins []int
		if at := bytes.LastIndex(line, []byte(lineMark)); at >= 0 {
			for number := range strings.SplitSeq(string(line[at+len(lineMark):]), ",") {
				n, err := strconv.Atoi(number)
				if err != nil {
					origins, at = nil, len(line)
					break
				}
				origins = append(origins, n)
			}
			line = bytes.TrimRightFunc(line[:at], unicode.IsSpace) // as indent does
		}
		out = append(append(out, line...), '\n')
		d.trace.lines = append(d.trace.lines, origins)
	}
	return out, d.trace
}
