package validation

import (
	corev1 "k8s.io/api/core/v1"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateProbes(c *corev1.Container, path *field.Path) field.ErrorList {
	problems := validateProbe(c.LivenessProbe, true, path.Child("livenessProbe"))
	problems = append(problems, validateProbe(c.ReadinessProbe, false, path.Child("readinessProbe"))...)
	return append(problems, validateProbe(c.StartupProbe, true, path.Child("startupProbe"))...)
}

// validateProbe validates a probe, which may be nil. once requires a success threshold of 1: this
// is the rule for liveness and startup probes, whose failure ends the container.
func validateProbe(p *corev1.Probe, once bool, path *field.Path) (problems field.ErrorList) {
	if p == nil {
		return nil
	}
	problems = validateHandler(p.ProbeHandler, path)
	for _, number := range []struct {
		name  string
		value int32
	}{{"initialDelaySeconds", p.InitialDelaySeconds}, {"timeoutSeconds", p.TimeoutSeconds}, {"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold}, {"failureThreshold", p.FailureThreshold}} {
		problems = append(problems, machinery.ValidateNonnegativeField(int64(number.value), path.Child(number.name))...)
	}
	if once && p.SuccessThreshold != 1 {
		problems = append(problems, field.Invalid(path.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	return problems
}

func validateHandler(h corev1.ProbeHandler, path *field.Path) (problems field.ErrorList) {
	handlers := 0
	count := func(set bool, name string) bool {
		if !set {
			return false
		}
		handlers++
		if handlers > 1 {
			problems = append(problems, field.Forbidden(path.Child(name), "may not specify more than 1 handler type"))
		}
		return handlers == 1
	}
	if count(h.Exec != nil, "exec") && len(h.Exec.Command) == 0 {
		problems = append(problems, field.Required(path.Child("exec", "command"), ""))
	}
	if count(h.HTTPGet != nil, "httpGet") {
		problems = append(problems, validateHTTPGet(h.HTTPGet, path.Child("httpGet"))...)
	}
	if count(h.TCPSocket != nil, "tcpSocket") {
		problems = append(problems, portReference(path.Child("tcpSocket", "port"), h.TCPSocket.Port)...)
	}
	if count(h.GRPC != nil, "grpc") {
		problems = append(problems, portNumber(path.Child("grpc", "port"), h.GRPC.Port)...)
	}
	if handlers == 0 {
		problems = append(problems, field.Required(path, "must specify a handler type"))
	}
	return problems
}

func validateHTTPGet(get *corev1.HTTPGetAction, path *field.Path) (problems field.ErrorList) {
	if get.Path == "" {
		problems = append(problems, field.Required(path.Child("path"), ""))
	}
	problems = append(problems, portReference(path.Child("port"), get.Port)...)
	return append(problems, oneOf(path.Child("scheme"), get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
}

func portNumber(path *field.Path, port int32) (problems field.ErrorList) {
	for _, message := range validation.IsValidPortNum(int(port)) {
		problems = append(problems, field.Invalid(path, port, message))
	}
	return problems
}

// portReference validates the number or the name of a port.
func portReference(path *field.Path, port intstr.IntOrString) (problems field.ErrorList) {
	if port.Type == intstr.Int {
		for _, message := range validation.IsValidPortNum(port.IntValue()) {
			problems = append(problems, field.Invalid(path, port.IntValue(), message))
		}
		return problems
	}
	for _, message := range validation.IsValidPortName(port.StrVal) {
		problems = append(problems, field.Invalid(path, port.StrVal, message))
	}
	return problems
}
