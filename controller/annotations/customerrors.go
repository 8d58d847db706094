package annotations

// CustomErrors is which of a pod's answers are taken for errors.
type CustomErrors struct {
	Codes                       []int
	DisableProxyInterceptErrors bool
}
