package fault

// Garbage sends a proxy's page of HTML into an open watch, which then ends.
// In JSON client-go lists again; in protobuf it reads a length and resumes at the end.
func Garbage() Fault {
	return Fault{Name: "garbage", Stream: func(*Call) Step {
		return Step{Bytes: func([]byte) []byte { return []byte(page) }}
	}}
}
