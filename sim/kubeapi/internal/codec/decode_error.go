package codec

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// ErrBody returns the 400 error for a body that is not an object of res, with kube-apiserver's
// message: it names the kind of the body, or shows the body if it has no kind.
func ErrBody(res *resource.Resource, body []byte, err error) error {
	if _, refused := err.(errors.APIStatus); refused {
		return err
	}
	says := metav1.TypeMeta{}
	if res.Custom == nil {
		says = res.TypeMeta("") // a body without a kind counts as an object of res
	}
	if len(body) == 0 || yaml.Unmarshal(body, &says) != nil || says.Kind == "" {
		return errors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", res.Kind, err, excerpt(body)))
	}
	version := schema.FromAPIVersionAndKind(says.APIVersion, says.Kind).Version
	return errors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", says.Kind, version, res.Kind, err))
}

// excerpt returns the beginning of a body, as text if it may be JSON.
func excerpt(body []byte) string {
	const most = 30
	dots := ""
	if len(body) > most {
		body, dots = body[:most], " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return string(body) + dots
	}
	return hex.EncodeToString(body) + dots
}

// CheckKind refuses an object of another kind.
func CheckKind(res *resource.Resource, apiVersion, kind string) error {
	want := res.TypeMeta("")
	if apiVersion == want.APIVersion && kind == want.Kind {
		return nil
	}
	got := schema.FromAPIVersionAndKind(apiVersion, kind)
	if !scheme.Scheme.Recognizes(got) {
		return runtime.NewNotRegisteredErrForKind("pkg/runtime/scheme.go:111", got) // the place where kube-apiserver creates its scheme
	}
	// Its storage knows one version-less type of each kind, in a package named after the group.
	group, _, _ := strings.Cut(res.Group, ".")
	if group == "" {
		group = "core"
	}
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", got.Version, kind, group, res.Kind)
}

// ErrUnsupportedMediaType returns the 415 error for a body of another media type.
func ErrUnsupportedMediaType(supported ...string) error {
	return mediaTypeError("the body of the request was in an unknown format - accepted media types include: "+strings.Join(supported, ", "), nil)
}

// ErrUnsupportedPatch returns the 415 error for a type of patch that kube-apiserver's router
// refuses before a handler sees it.
func ErrUnsupportedPatch() error {
	return mediaTypeError("415: Unsupported Media Type", &metav1.StatusDetails{})
}

func mediaTypeError(message string, details *metav1.StatusDetails) error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: message,
		Details: details,
	}}
}
