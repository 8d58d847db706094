package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// futureWait is how long a read waits for a version that does not exist yet, as in kube-apiserver.
const futureWait = 3 * time.Second

func (s *Server) get(w http.ResponseWriter, r *request) error {
	rv, err := parseRV(r.query.Get("resourceVersion"))
	if err != nil {
		return err
	}
	if err := s.await(r.Context(), rv); err != nil {
		return err
	}
	o := r.Objects.Get(r.Key())
	if o == nil {
		return r.NotFound()
	}
	return respond(w, r, http.StatusOK, o)
}

// parseRV parses a resourceVersion; empty is 0. Its error is not a Status, because kube-apiserver
// answers it with 500 for a get and a watch, and with 400 for a list.
func parseRV(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	rv, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), text, err.Error())
	}
	return rv, nil
}

// await waits until the server has reached version rv. After futureWait it returns the 504 that
// clients know as "too large resource version".
func (s *Server) await(ctx context.Context, rv uint64) error {
	if s.state.Version() >= rv {
		return nil
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(futureWait)
	for {
		select {
		case <-look.C:
			if s.state.Version() >= rv {
				return nil
			}
		case <-deadline:
			return tooLargeRV(rv, s.state.Version())
		case <-s.ending():
			return tooLargeRV(rv, s.state.Version())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func tooLargeRV(asked, current uint64) error {
	err := errors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, current), 1)
	err.ErrStatus.Message = fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", asked, current)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

func expired(asked, oldest uint64) *errors.StatusError {
	return errors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", asked, oldest))
}
