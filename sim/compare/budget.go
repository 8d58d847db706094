package compare

import "windtunnel.dev/sim/measure"

// Budget returns the budget of a figure: the one in the options, or else the figure's own, with the
// minimum values of the options.
func (o Options) Budget(figure measure.Figure) measure.Budget {
	if b, given := o.Budgets[figure.Name]; given {
		return b
	}
	b := figure.Budget
	if figure.Kind.Varies() && o.Relative != 0 {
		b.Rel = o.Relative
	}
	if figure.Kind == measure.Time && o.Absolute != 0 {
		b.More = o.Absolute
	}
	return b
}
