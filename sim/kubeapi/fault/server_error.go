package fault

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServerError answers with a Status of code 500, 503 or 504, and with the
// Retry-After header if retryAfter is at least a second.
func ServerError(code int, retryAfter time.Duration) Fault {
	return refusal(fmt.Sprint("server-error-", code), nil, func(*Call) error { return later(serverError(code), retryAfter) })
}

func serverError(code int) *errors.StatusError {
	reasons := map[int]metav1.StatusReason{
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
		http.StatusGatewayTimeout:      metav1.StatusReasonTimeout,
	}
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    int32(code),
		Reason:  reasons[code],
		Message: "injected: " + http.StatusText(code),
	}}
}

// BadGateway answers 502 with a page of HTML, as a proxy before the server does.
func BadGateway() Fault {
	return Fault{Name: "bad-gateway", Serve: func(_ *Call, w http.ResponseWriter, _ func(http.ResponseWriter)) error {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		w.Write([]byte(page))
		return nil
	}}
}

const page = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>\r\n"
