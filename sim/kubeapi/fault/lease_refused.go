package fault

// LeaseRefused answers writes of Leases with 500. A leader that cannot renew for
// its deadline steps down.
func LeaseRefused() Fault {
	return refusal("lease-refused",
		func(c *Call) bool { return bare(c.Resource) == "leases.coordination.k8s.io" && c.Writes() },
		func(*Call) error { return serverError(500) })
}
