package conf

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
)

// hash computes the sums of a directive and its block. Equal directives have equal sums.
func (d *Directive) hash() uint64 {
	h := fnv.New64a()
	write := func(text string) {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	write(d.Name)
	for _, arg := range d.Args {
		write(arg)
	}
	if d.IsBlock {
		write("{")
	}
	write(plainLua(d.Lua))
	for _, inner := range d.Block {
		h.Write(binary.LittleEndian.AppendUint64(nil, inner.hash()))
	}
	d.sum = h.Sum64()
	return d.sum
}

// equal reports whether two directives are the same but for their lines, with the same order.
func equal(a, b *Directive) bool {
	return a.sum == b.sum && sameHead(a, b) && plainLua(a.Lua) == plainLua(b.Lua) &&
		slices.EqualFunc(a.Block, b.Block, equal)
}

// sameHead reports whether two directives are the same but for their lines and blocks.
func sameHead(a, b *Directive) bool {
	return a.Name == b.Name && a.IsBlock == b.IsBlock && slices.Equal(a.Args, b.Args)
}

// plainLua returns Lua code without indentation, blank lines and lines that are comments.
func plainLua(code string) string {
	if code == "" {
		return ""
	}
	var lines []string
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		comment := strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "--[")
		if line != "" && !comment {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
