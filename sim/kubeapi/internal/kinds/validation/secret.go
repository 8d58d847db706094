package validation

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func Secret(secret, old *corev1.Secret, _ resource.Cluster) (problems field.ErrorList) {
	data := field.NewPath("data")
	if old != nil {
		problems = append(problems, machinery.ValidateImmutableField(secret.Type, old.Type, field.NewPath("type"))...)
		problems = append(problems, validateFrozen(secret.Immutable, old.Immutable, "data", secret.Data, old.Data)...)
	}
	problems = append(problems, validateKeys(secret.Data, data)...)
	if sizeOf(secret.Data) > corev1.MaxSecretSize {
		problems = append(problems, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	return append(problems, validateSecretType(secret, data)...)
}

// validateSecretType checks that a secret has the keys that its type requires.
func validateSecretType(secret *corev1.Secret, data *field.Path) (problems field.ErrorList) {
	need := func(keys ...string) {
		for _, key := range keys {
			if _, ok := secret.Data[key]; !ok {
				problems = append(problems, field.Required(data.Key(key), ""))
			}
		}
	}
	switch secret.Type {
	case corev1.SecretTypeTLS:
		need(corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	case corev1.SecretTypeDockercfg:
		need(corev1.DockerConfigKey)
		problems = append(problems, validateJSON(secret, corev1.DockerConfigKey, data)...)
	case corev1.SecretTypeDockerConfigJson:
		need(corev1.DockerConfigJsonKey)
		problems = append(problems, validateJSON(secret, corev1.DockerConfigJsonKey, data)...)
	case corev1.SecretTypeBasicAuth: // one of the two is enough
		if _, ok := secret.Data[corev1.BasicAuthPasswordKey]; !ok {
			if _, ok := secret.Data[corev1.BasicAuthUsernameKey]; !ok {
				need(corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey)
			}
		}
	case corev1.SecretTypeSSHAuth:
		if len(secret.Data[corev1.SSHAuthPrivateKey]) == 0 {
			problems = append(problems, field.Required(data.Key(corev1.SSHAuthPrivateKey), ""))
		}
	case corev1.SecretTypeServiceAccountToken:
		if secret.Annotations[corev1.ServiceAccountNameKey] == "" {
			problems = append(problems, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	}
	return problems
}

func validateJSON(secret *corev1.Secret, key string, data *field.Path) field.ErrorList {
	value, ok := secret.Data[key]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(value, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(data.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}

func ConfigMap(cm, old *corev1.ConfigMap, _ resource.Cluster) (problems field.ErrorList) {
	data, binary := field.NewPath("data"), field.NewPath("binaryData")
	if old != nil {
		problems = append(problems, validateFrozen(cm.Immutable, old.Immutable, "data", cm.Data, old.Data)...)
		if frozen(old.Immutable) && !equality.Semantic.DeepEqual(cm.BinaryData, old.BinaryData) {
			problems = append(problems, field.Forbidden(binary, frozenMessage))
		}
	}
	problems = append(problems, validateKeys(cm.Data, data)...)
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		if _, ok := cm.BinaryData[key]; ok {
			problems = append(problems, field.Invalid(data.Key(key), key, "duplicate of key present in binaryData"))
		}
	}
	problems = append(problems, validateKeys(cm.BinaryData, binary)...)
	if sizeOf(cm.Data)+sizeOf(cm.BinaryData) > corev1.MaxSecretSize {
		problems = append(problems, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return problems
}

const frozenMessage = "field is immutable when `immutable` is set"

func frozen(immutable *bool) bool { return immutable != nil && *immutable }

// validateFrozen refuses changes of an immutable object.
func validateFrozen(is, was *bool, name string, data, old any) (problems field.ErrorList) {
	if !frozen(was) {
		return nil
	}
	if !frozen(is) {
		problems = append(problems, field.Forbidden(field.NewPath("immutable"), frozenMessage))
	}
	if !equality.Semantic.DeepEqual(data, old) {
		problems = append(problems, field.Forbidden(field.NewPath(name), frozenMessage))
	}
	return problems
}

func validateKeys[V any](data map[string]V, at *field.Path) (problems field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		problems = append(problems, invalidAs(at.Key(key), key, validation.IsConfigMapKey(key))...)
	}
	return problems
}

func sizeOf[V ~string | ~[]byte](data map[string]V) (size int) {
	for _, value := range data {
		size += len(value)
	}
	return size
}
