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
