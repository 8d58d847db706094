package fault

// TruncatedFrame sends the first half of the next event and resets the connection:
// client-go resumes. Over HTTP/2 only the stream is reset, and client-go lists again.
func TruncatedFrame() Fault {
	return Fault{
		Name:    "truncated-frame",
		Applies: func(c *Call) bool { return c.Events > 0 },
		Stream: func(*Call) Step {
			return Step{Order: []int{0}, Bytes: func(b []byte) []byte { return b[:len(b)/2] }, Cut: true}
		},
	}
}
