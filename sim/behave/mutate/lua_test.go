package mutate

import (
	"slices"
	"strings"
	"testing"
)

// A mutant of a condition knows the lines that depend on it.
func TestBranchesOfLua(t *testing.T) {
	code := strings.Split(`local function f(a)
  if a == 1 then
    for i = 1, 2 do
      g(i)
    end
  elseif a == 2 then return 2
  elseif a == 3 then
    -- three
    if b then return 3 end
  else
    return 4
  end
  while more() do
    g(function() if c then h() end end)
  end
end`, "\n")
	want := map[int][]int{2: {3, 4, 5}, 6: nil, 7: {8, 9}, 9: nil, 13: {14}, 14: nil}
	seen := map[int]bool{}
	for _, m := range OfLua(map[string]string{"f.lua": strings.Join(code, "\n")}) {
		if m.Change() != "never" {
			continue
		}
		seen[m.Line] = true
		if !slices.Equal(m.Branch, want[m.Line]) {
			t.Errorf("the condition in line %d has the branch %v, want %v", m.Line, m.Branch, want[m.Line])
		}
	}
	if !seen[2] || !seen[6] || !seen[7] || !seen[13] {
		t.Errorf("conditions in lines %v", seen)
	}
}

// Comments, and names that end like operators, do not hide mutants. Strings have none.
func TestLuaThatLooksLikeOther(t *testing.T) {
	code := `local help = [[
function f()
  g() if a then end
]]
function f(a)
  last = iterator
  next = a and
    b
  if a --[[ is set ]] then
    --[==[ g()
    g() ]==]
    return true -- yes
  end
  if false then
    g([[one line]])
  end
end`
	want := []string{"6/delete", "9/always", "9/never", "12/opposite", "14/always", "15/delete"}
	var got []string
	for _, m := range OfLua(map[string]string{"f.lua": code}) {
		got = append(got, strings.TrimPrefix(m.Name, "lua/f.lua:"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("mutants %v, want %v", got, want)
	}
}
