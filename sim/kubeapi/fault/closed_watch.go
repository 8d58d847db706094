package fault

// ClosedWatch ends open watches cleanly, as a load balancer's idle timeout or
// kube-apiserver itself does whenever it likes.
func ClosedWatch() Fault {
	return Fault{Name: "closed-watch", Stream: func(*Call) Step {
		return Step{Order: []int{}, Bytes: func([]byte) []byte { return nil }}
	}}
}
