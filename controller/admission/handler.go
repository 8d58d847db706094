package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/metrics"
)

// largest is the minimum size, in bytes, of a review that is rejected. API objects are much
// smaller, and a review contains an old and a new one.
const largest = 9 << 20

// small is the maximum size, in bytes, of a review that is read without waiting for a turn. Most
// reviews have a few KB.
const small = 256 << 10

// Bounds on concurrency. Reading a large review needs several times its size in memory, and a check
// keeps one CPU busy.
const (
	mostRead    = 8                // reviews that are not small
	mostChecked = 2                // checks
	patience    = 10 * time.Second // how long a review waits for its turn; the API server's default timeout
)

// turns is a semaphore.
type turns chan struct{}

// acquire waits for a turn. It returns an error after patience.
func (t turns) acquire(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("too many AdmissionReviews at once: no turn within %v", patience)
	}
}

func (t turns) release() { <-t }

// Handler answers AdmissionReviews (admission.k8s.io/v1) on any path. It calls done for each
// ingress that was checked.
func Handler(check func(*networkingv1.Ingress) Verdict, done func(metrics.Admission), log *slog.Logger) http.Handler {
	reading, checking := make(turns, mostRead), make(turns, mostChecked)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		if r.ContentLength < 0 || r.ContentLength > small {
			if err := reading.acquire(r.Context()); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			defer reading.release()
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout)) // excludes the wait
		}
		review, code, err := read(w, r)
		if err != nil {
			http.Error(w, err.Error(), code)
			return
		}
		if err := checking.acquire(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer checking.release()
		request := review.Request
		verdict := judge(request, check)
		if !verdict.Ignored {
			cost := verdict.Cost
			cost.Namespace, cost.Ingress = request.Namespace, request.Name
			cost.Denied, cost.Roundtrip = verdict.Denial != nil, time.Since(began)
			done(cost)
		}
		if verdict.Denial != nil {
			log.Info("admission denied", "ingress", request.Namespace+"/"+request.Name, "operation", string(request.Operation), "reason", verdict.Denial.Error())
		}
		answer(w, review, verdict)
	})
}

// read reads the review from a request. If it returns an error, the int is the HTTP status to
// answer with.
func read(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, int, error) {
	if r.ContentLength >= largest {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the AdmissionReview has %d bytes or more", largest)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest-1))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the AdmissionReview has %d bytes or more", largest)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, http.StatusRequestTimeout, fmt.Errorf("the AdmissionReview did not arrive within %v", readTimeout)
	}
	if err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("reading the AdmissionReview: %w", err)
	}
	review := new(admissionv1.AdmissionReview)
	if err := json.Unmarshal(body, review); err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("not an AdmissionReview: %w", err)
	}
	if review.Kind != "AdmissionReview" || review.APIVersion != admissionv1.SchemeGroupVersion.String() || review.Request == nil {
		return nil, http.StatusBadRequest, fmt.Errorf("want an AdmissionReview of %s with a request", admissionv1.SchemeGroupVersion)
	}
	if kind := review.Request.Kind; kind.Group != networkingv1.GroupName || kind.Version != "v1" || kind.Kind != "Ingress" {
		return nil, http.StatusInternalServerError, fmt.Errorf("this webhook is for Ingresses of networking.k8s.io/v1, not for %s", kind)
	}
	return review, 0, nil
}

// judge decodes the ingress and checks it. Deletions contain no ingress and are always allowed.
func judge(request *admissionv1.AdmissionRequest, check func(*networkingv1.Ingress) Verdict) Verdict {
	if len(request.Object.Raw) == 0 || request.Operation == admissionv1.Delete {
		return Verdict{Ignored: true}
	}
	ingress := new(networkingv1.Ingress)
	if err := json.Unmarshal(request.Object.Raw, ingress); err != nil {
		return Verdict{Denial: fmt.Errorf("not an Ingress: %w", err)}
	}
	return check(ingress)
}

func answer(w http.ResponseWriter, review *admissionv1.AdmissionReview, v Verdict) {
	response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: v.Denial == nil, Warnings: v.Warnings}
	if v.Denial != nil {
		response.Result = &metav1.Status{
			Status:  metav1.StatusFailure,
			Code:    http.StatusBadRequest,
			Reason:  metav1.StatusReasonBadRequest,
			Message: v.Denial.Error(),
		}
	}
	text, err := json.Marshal(&admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(text) // an error means that the API server has closed the connection
}
