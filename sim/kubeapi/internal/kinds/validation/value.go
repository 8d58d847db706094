package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	validations "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Checks of single values, shared by many kinds.

// oneOf refuses a value that is not one of the words; an empty value is refused, too.
func oneOf[T ~string](path *field.Path, value T, words ...T) field.ErrorList {
	for _, word := range words {
		if value == word {
			return nil
		}
	}
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, value, words)}
}

// dnsLabel refuses a value that is not a DNS label; it accepts an empty value.
func dnsLabel(path *field.Path, value string) (problems field.ErrorList) {
	if value == "" {
		return nil
	}
	for _, message := range validations.IsDNS1123Label(value) {
		problems = append(problems, field.Invalid(path, value, message))
	}
	return problems
}

// nameRule refuses a value that breaks the naming rule; it accepts an empty value.
func nameRule(path *field.Path, value string, rule validation.ValidateNameFunc) (problems field.ErrorList) {
	if value == "" {
		return nil
	}
	for _, message := range rule(value, false) {
		problems = append(problems, field.Invalid(path, value, message))
	}
	return problems
}
