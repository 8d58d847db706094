package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// The labels of objects that this program creates in clusters that are not its own.
const (
	MadeByLabel = "app.kubernetes.io/managed-by"
	MadeBy      = "windtunnel"
)

// ErrNotOurs is the error for an object that a run must not touch, because others created it.
var ErrNotOurs = errors.New("not touched")

// Retry repeats do until do succeeds, fails with an error that is not temporary, or ctx ends.
func Retry(ctx context.Context, do wait.ConditionWithContextFunc) error {
	var temporary error
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		done, err := do(ctx)
		switch {
		case !isTemporary(err):
			temporary = nil
			return done, err
		case ctx.Err() == nil || temporary == nil: // otherwise the previous answer says more
			temporary = err
		}
		return false, nil
	})
	if wait.Interrupted(err) && temporary != nil {
		return fmt.Errorf("%w, the last answer: %w", err, temporary)
	}
	return err
}

// isTemporary reports whether a retry may succeed: the API did not answer, or refused for the
// moment.
func isTemporary(err error) bool {
	if err == nil || errors.Is(err, ErrNotOurs) {
		return false
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonUnknown, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests:
		return true
	}
	return false
}
