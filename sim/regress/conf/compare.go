package conf

import (
	"maps"
	"slices"
	"strings"
)

// Change says what happens to a directive from base to head.
type Change string

// The changes.
const (
	Gained  Change = "gain"   // only head has it
	Lost    Change = "lose"   // only base has it
	Changed Change = "change" // its arguments or its Lua code differ
	Moved   Change = "move"   // it stands elsewhere in a sequence whose order counts
)

// Difference is one directive that differs. A block that only one side has is one difference.
type Difference struct {
	Change Change
	// Path has the blocks around the directive, from the outermost: those of head, if head has the
	// directive, otherwise those of base.
	Path []*Directive
	// Base and Head are the directive on the sides. Base is nil if it is gained, Head if it is lost.
	Base, Head *Directive
}

// Place returns the names of the blocks around the directive, such as http/server/location.
func (d Difference) Place() string {
	var names []string
	for _, block := range d.Path {
		names = append(names, block.Name)
	}
	return strings.Join(names, "/")
}

// Any returns the directive: that of head if there is one.
func (d Difference) Any() *Directive {
	if d.Head != nil {
		return d.Head
	}
	return d.Base
}

// Compare returns the differences between two configurations, in the order of head.
func Compare(base, head []*Directive) []Difference {
	var c comparison
	c.lists(base, head, nil, nil)
	return c.found
}

type comparison struct{ found []Difference }

func (c *comparison) add(change Change, base, head *Directive, basePath, headPath []*Directive) {
	path := headPath
	if head == nil {
		path = basePath
	}
	c.found = append(c.found, Difference{Change: change, Path: slices.Clone(path), Base: base, Head: head})
}

// pair are the places of a directive in its group on both sides.
type pair struct{ base, head int }

func (c *comparison) lists(base, head []*Directive, basePath, headPath []*Directive) {
	parent := ""
	if len(headPath) > 0 {
		parent = headPath[len(headPath)-1].Name
	}
	order, bases, heads := grouped(base, head, parent)
	for _, group := range order {
		c.group(group, bases[group], heads[group], basePath, headPath)
	}
	c.defaults(bases["server"], heads["server"], basePath, headPath)
}

// grouped splits two lists by groups, in the order in which the groups first occur.
func grouped(base, head []*Directive, parent string) (order []string, bases, heads map[string][]*Directive) {
	bases, heads = map[string][]*Directive{}, map[string][]*Directive{}
	for _, side := range []struct {
		list []*Directive
		into map[string][]*Directive
	}{{head, heads}, {base, bases}} {
		for _, d := range side.list {
			group := groupOf(d, parent)
			if bases[group] == nil && heads[group] == nil {
				order = append(order, group)
			}
			side.into[group] = append(side.into[group], d)
		}
	}
	return order, bases, heads
}

func (c *comparison) group(group string, base, head []*Directive, basePath, headPath []*Directive) {
	pairs, lost, gained := match(group, base, head)
	for _, i := range lost {
		c.add(Lost, base[i], nil, basePath, headPath)
	}
	for _, p := range pairs {
		b, h := base[p.base], head[p.head]
		switch {
		case equal(b, h):
			continue
		case !slices.Equal(b.Args, h.Args) || b.IsBlock != h.IsBlock || plainLua(b.Lua) != plainLua(h.Lua):
			c.add(Changed, b, h, basePath, headPath)
		}
		if b.IsBlock && h.IsBlock {
			c.lists(b.Block, h.Block, append(slices.Clip(basePath), b), append(slices.Clip(headPath), h))
		}
	}
	for _, j := range gained {
		c.add(Gained, nil, head[j], basePath, headPath)
	}
	for _, p := range moved(pairs, func(p pair) bool { return ordered(head[p.head], group) }) {
		c.add(Moved, base[p.base], head[p.head], basePath, headPath)
	}
}

// match pairs the directives of a group: first equal ones, then those with the same identity, then
// blocks that have most of their content in common.
func match(group string, base, head []*Directive) (pairs []pair, lost, gained []int) {
	taken := make([]bool, len(base))
	partner := make([]int, len(head))
	find := func(key func(*Directive) any) {
		waiting := map[any][]int{}
		for i, d := range base {
			if !taken[i] {
				waiting[key(d)] = append(waiting[key(d)], i)
			}
		}
		for j, d := range head {
			k := key(d)
			if partner[j] == 0 && len(waiting[k]) > 0 {
				i := waiting[k][0]
				waiting[k] = waiting[k][1:]
				taken[i], partner[j] = true, i+1
			}
		}
	}
	find(func(d *Directive) any { return d.sum })
	find(func(d *Directive) any { return identity(d, group) })
	if left(taken)*len(head) <= mostAlike {
		for j, h := range head {
			for i, b := range base {
				if partner[j] == 0 && !taken[i] && alike(b, h) {
					taken[i], partner[j] = true, i+1
				}
			}
		}
	}
	for j, i := range partner {
		if i == 0 {
			gained = append(gained, j)
		} else {
			pairs = append(pairs, pair{i - 1, j})
		}
	}
	for i, t := range taken {
		if !t {
			lost = append(lost, i)
		}
	}
	return pairs, lost, gained
}

// mostAlike is the number of pairs of blocks whose content is compared to find a partner.
const mostAlike = 200_000

// left counts the directives that have no partner.
func left(taken []bool) (n int) {
	for _, t := range taken {
		if !t {
			n++
		}
	}
	return n
}

// alike reports whether two blocks have most of their directives in common.
func alike(a, b *Directive) bool {
	if !a.IsBlock || !b.IsBlock || a.Name != b.Name || len(a.Block) == 0 || len(b.Block) == 0 {
		return false
	}
	sums := map[uint64]int{}
	for _, d := range a.Block {
		sums[d.sum]++
	}
	common := 0
	for _, d := range b.Block {
		if sums[d.sum] > 0 {
			sums[d.sum]--
			common++
		}
	}
	return 2*common > max(len(a.Block), len(b.Block))
}

// moved returns the smallest set of pairs that must be removed so that both sides have the
// remaining pairs in the same order. It considers only pairs whose order matters. The pairs are in
// the order of head.
func moved(pairs []pair, counts func(pair) bool) []pair {
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return !counts(p) })
	var ends, before = []int{}, make([]int, len(pairs)) // of the longest increasing subsequence
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(ends, p.base, func(end, base int) int { return pairs[end].base - base })
		before[i] = -1
		if at > 0 {
			before[i] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, i)
		} else {
			ends[at] = i
		}
	}
	stays := make([]bool, len(pairs))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			stays[i] = true
		}
	}
	var all []pair
	for i, p := range pairs {
		if !stays[i] {
			all = append(all, p)
		}
	}
	return all
}

// defaults compares the first servers of each address, because nginx's default server of an address is the
// first one unless another one is marked as the default. A server that is first for several addresses is
// one difference.
func (c *comparison) defaults(base, head []*Directive, basePath, headPath []*Directive) {
	bases, heads := firsts(base), firsts(head)
	pairs, _, _ := match("server", base, head)
	reported := map[pair]bool{}
	for _, address := range slices.Sorted(maps.Keys(heads)) {
		b, both := bases[address]
		p := pair{b, heads[address]}
		if both && !slices.Contains(pairs, p) && !reported[p] {
			reported[p] = true
			c.add(Moved, base[p.base], head[p.head], basePath, headPath)
		}
	}
}

// firsts returns the place of the first server of each address that has no server that is marked as its
// default.
func firsts(servers []*Directive) map[string]int {
	first, marked := map[string]int{}, map[string]bool{}
	see := func(address string, server int) {
		if _, taken := first[address]; !taken {
			first[address] = server
		}
	}
	for n, server := range servers {
		if len(listens(server)) == 0 {
			see("", n) // nginx's own address
		}
		for _, d := range server.Block {
			if d.Name == "listen" && len(d.Args) > 0 {
				see(d.Args[0], n)
				marked[d.Args[0]] = marked[d.Args[0]] || isDefault(d)
			}
		}
	}
	maps.DeleteFunc(first, func(address string, _ int) bool { return marked[address] })
	return first
}
