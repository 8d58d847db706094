package fault

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TooManyRequests answers 429. With retryAfter, in whole seconds, client-go
// repeats the request by itself; with 0 the header is left out and the caller sees it.
func TooManyRequests(retryAfter time.Duration) Fault {
	return refusal("too-many-requests", nil, func(*Call) error {
		return later(errors.NewTooManyRequestsError("too many requests, please try again later"), retryAfter)
	})
}

// refusal is a fault that answers with an error instead of serving.
func refusal(name string, applies func(*Call) bool, answer func(*Call) error) Fault {
	return Fault{Name: name, Applies: applies, Serve: func(c *Call, _ http.ResponseWriter, _ func(http.ResponseWriter)) error {
		return answer(c)
	}}
}

// later tells the client when to try again.
func later(err *errors.StatusError, retryAfter time.Duration) error {
	if seconds := int32(retryAfter / time.Second); seconds > 0 {
		if err.ErrStatus.Details == nil {
			err.ErrStatus.Details = &metav1.StatusDetails{}
		}
		err.ErrStatus.Details.RetryAfterSeconds = seconds
	}
	return err
}
