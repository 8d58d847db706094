package admission

import (
	"bytes"
	"context"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/internal/kinds/validation"
)

// Review is a finished call of a webhook.
type Review struct {
	Webhook string        // its name
	Took    time.Duration // until the answer was read
	Allowed bool          // by the answer
	Err     error         // why there is no answer; nil if there is one
}

// ServiceResolver returns the host:port behind a Service.
type ServiceResolver func(namespace, name string, port int32) (string, error)

// clientOf returns a function that creates the webhook's client on its first call. The client is
// client-go's REST client, as in kube-apiserver, so errors have the same text.
func clientOf(c admissionregistrationv1.WebhookClientConfig, resolve ServiceResolver) func() (*rest.RESTClient, error) {
	return sync.OnceValues(func() (*rest.RESTClient, error) {
		config := &rest.Config{QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: c.CABundle}}
		config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
		config.ContentType = "application/json"
		if c.Service != nil {
			toService(config, c.Service, resolve)
		} else if err := toURL(config, c.URL); err != nil {
			return nil, err
		}
		return rest.UnversionedRESTClientFor(config)
	})
}

func toURL(config *rest.Config, text *string) error {
	if text == nil {
		return stderrors.New("webhook configuration must have either service or URL")
	}
	u, err := url.Parse(*text)
	if err != nil {
		return err
	}
	config.Host, config.APIPath = u.Scheme+"://"+u.Host, u.Path
	return nil
}

// toService configures a client that uses the in-cluster name of a Service, and connects to the
// address that resolve returns.
func toService(config *rest.Config, service *admissionregistrationv1.ServiceReference, resolve ServiceResolver) {
	port := int32(443)
	if service.Port != nil {
		port = *service.Port
	}
	name := service.Name + "." + service.Namespace + ".svc"
	config.Host = "https://" + net.JoinHostPort(name, strconv.Itoa(int(port)))
	if service.Path != nil {
		config.APIPath = *service.Path
	}
	config.TLSClientConfig.ServerName = name
	config.NextProtos = []string{"http/1.1"}
	config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		if resolve == nil {
			return nil, fmt.Errorf("service %q not found: the simulated API server has no Options.ResolveService", service.Namespace+"/"+service.Name)
		}
		address, err := resolve(service.Namespace, service.Name, port)
		if err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// ask returns the webhook's answer, or an error if the webhook refuses or fails. If the webhook's
// failure policy ignores failures, a failure returns nil without an error.
func (hs *Webhooks) ask(ctx context.Context, h *webhook, a *attributes) (*admissionv1.AdmissionResponse, error) {
	began := time.Now()
	answer, err := h.call(ctx, a)
	if hs.Reviewed != nil {
		hs.Reviewed(Review{Webhook: h.Name, Took: time.Since(began), Allowed: err == nil && answer.Allowed, Err: err})
	}
	if err != nil {
		if h.FailurePolicy != nil && *h.FailurePolicy == admissionregistrationv1.Ignore {
			return nil, nil
		}
		return nil, errors.NewInternalError(fmt.Errorf("failed calling webhook %q: %w", h.Name, err))
	}
	for _, warning := range answer.Warnings {
		a.Warn(warning)
	}
	if !answer.Allowed {
		return nil, denied(h.Name, answer.Result)
	}
	return answer, nil
}

func (h *webhook) call(ctx context.Context, a *attributes) (*admissionv1.AdmissionResponse, error) {
	request, err := a.review(validation.ReviewVersion(h.AdmissionReviewVersions))
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	client, err := h.client()
	if err != nil {
		return nil, fmt.Errorf("could not get REST client: %w", err)
	}
	timeout := 10 * time.Second
	if h.TimeoutSeconds != nil {
		timeout = time.Duration(*h.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	raw, err := client.Post().Body(body).SetHeader("Content-Type", "application/json").Timeout(timeout).Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	answer, err := readAnswer(raw, request, h.mutating)
	if err != nil {
		return nil, fmt.Errorf("received invalid webhook response: %w", err)
	}
	return answer, nil
}

func readAnswer(raw []byte, request *admissionv1.AdmissionReview, mutating bool) (*admissionv1.AdmissionResponse, error) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&review); err != nil {
		return nil, err
	}
	answer := review.Response
	switch want, got := request.TypeMeta, review.TypeMeta; {
	case got != want:
		return nil, fmt.Errorf("expected webhook response of %s, got %s", want.GroupVersionKind(), got.GroupVersionKind())
	case answer == nil:
		return nil, stderrors.New("webhook response was absent")
	case answer.UID != request.Request.UID:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", request.Request.UID, answer.UID)
	case !mutating && len(answer.Patch) > 0:
		return nil, stderrors.New("validating webhook may not return response.patch")
	case !mutating && answer.PatchType != nil:
		return nil, stderrors.New("validating webhook may not return response.patchType")
	case len(answer.Patch) > 0 && answer.PatchType == nil:
		return nil, stderrors.New("webhook returned response.patch but not response.patchType")
	case len(answer.Patch) == 0 && answer.PatchType != nil:
		return nil, stderrors.New("webhook returned response.patchType but not response.patch")
	case answer.PatchType != nil && *answer.PatchType != admissionv1.PatchTypeJSONPatch:
		return nil, fmt.Errorf("unsupported patch type %q", *answer.PatchType)
	}
	return answer, nil
}

// denied returns the error for a webhook's refusal, with the code and reason of the webhook.
func denied(name string, result *metav1.Status) error {
	status := metav1.Status{}
	if result != nil {
		status = *result
	}
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	status.Status = metav1.StatusFailure
	by := fmt.Sprintf("admission webhook %q denied the request", name)
	switch {
	case status.Message != "":
		status.Message = by + ": " + status.Message
	case status.Reason != "":
		status.Message = by + ": " + string(status.Reason)
	default:
		status.Message = by + " without explanation"
	}
	return &errors.StatusError{ErrStatus: status}
}
