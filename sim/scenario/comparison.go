package scenario

import (
	"maps"
	"slices"
)

// comparison checks that the figures exist and that their budgets are valid.
func (c *checker) comparison() {
	if c.known.CheckBudget == nil {
		return
	}
	const mend = "windtunnel list figures lists them"
	path := []any{"spec", "compare"}
	for i, figure := range c.Compare.Figures {
		if err := c.known.CheckFigure(figure); err != nil {
			c.Problem(err.Error(), mend, append(path, "figures", i)...)
		}
	}
	for _, figure := range slices.Sorted(maps.Keys(c.Compare.Budgets)) {
		if err := c.known.CheckBudget(figure, c.Compare.Budgets[figure]); err != nil {
			c.Problem(err.Error(), mend, append(path, "budgets", figure)...)
		}
	}
}
