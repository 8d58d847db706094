package kubeapi

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
)

func (r *request) createOptions() (cluster.WriteOptions, error) {
	var opts metav1.CreateOptions
	if err := decodeOptions(r.query, &opts); err != nil {
		return cluster.WriteOptions{}, err
	}
	err := invalidOptions("CreateOptions", metav1validation.ValidateCreateOptions(&opts))
	return cluster.WriteOptions{DryRun: len(opts.DryRun) > 0, Manager: r.manager(opts.FieldManager)}, err
}

func (r *request) updateOptions() (cluster.WriteOptions, error) {
	if len(r.query) == 0 {
		return cluster.WriteOptions{Manager: r.manager("")}, nil
	}
	var opts metav1.UpdateOptions
	if err := decodeOptions(r.query, &opts); err != nil {
		return cluster.WriteOptions{}, err
	}
	err := invalidOptions("UpdateOptions", metav1validation.ValidateUpdateOptions(&opts))
	return cluster.WriteOptions{DryRun: len(opts.DryRun) > 0, Manager: r.manager(opts.FieldManager)}, err
}

func (r *request) patchOptions(kind types.PatchType) (cluster.WriteOptions, error) {
	var opts metav1.PatchOptions
	if err := decodeOptions(r.query, &opts); err != nil {
		return cluster.WriteOptions{}, err
	}
	err := invalidOptions("PatchOptions", metav1validation.ValidatePatchOptions(&opts, kind))
	return cluster.WriteOptions{
		DryRun:  len(opts.DryRun) > 0,
		Manager: r.manager(opts.FieldManager),
		Force:   opts.Force != nil && *opts.Force,
	}, err
}

func decodeOptions(query url.Values, into runtime.Object) error {
	if len(query) == 0 {
		return nil
	}
	if err := scheme.ParameterCodec.DecodeParameters(query, schema.GroupVersion{Version: "v1"}, into); err != nil {
		return errors.NewBadRequest(err.Error())
	}
	return nil
}

func invalidOptions(kind string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", problems)
}

// manager returns the name of the request's field manager: the given one, or the first part of the
// User-Agent without characters that cannot be printed.
func (r *request) manager(given string) string {
	if given != "" {
		return given
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	var name strings.Builder
	for _, c := range agent {
		if !unicode.IsPrint(c) {
			continue
		}
		if name.Len()+utf8.RuneLen(c) > metav1validation.FieldManagerMaxLength {
			break
		}
		name.WriteRune(c)
	}
	return name.String()
}
