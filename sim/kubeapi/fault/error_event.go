package fault

import "fmt"

// ErrorEvent ends open watches with an ERROR event of code 500, 503 or 504.
func ErrorEvent(code int) Fault {
	return Fault{Name: fmt.Sprint("error-event-", code), Stream: func(*Call) Step { return Step{Err: serverError(code)} }}
}
