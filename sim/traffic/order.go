package traffic

import "context"

// Order is an attack in a form that can be sent to another process, as JSON.
type Order struct {
	Attack
	Arrivals Arrivals // instead of Rate; their times follow from Seed
}

// Run carries out the attack, as the function Run does.
func (o Order) Run(ctx context.Context) error {
	a := o.Attack
	a.Rate = o.Arrivals.Pacer(a.Seed)
	return Run(ctx, a)
}
