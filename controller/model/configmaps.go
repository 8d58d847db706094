package model

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	headerName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	oneLine    = regexp.MustCompile(`^[^\x00-\x1f\x7f]*$`)
)

// configMap returns the ConfigMap of that name, or nil. Later changes of a ConfigMap that was
// looked up trigger a sync.
func (b *builder) configMap(name types.NamespacedName) *corev1.ConfigMap {
	b.configMaps[name] = true
	return b.ConfigMaps[name]
}

// headersOf returns the headers in the ConfigMap called name, to which the given key of the options
// refers; nil if name is empty or the ConfigMap does not exist.
func (b *builder) headersOf(key, name string) map[string]string {
	if name == "" {
		return nil
	}
	configMap := parseName(name)
	config := b.configMap(configMap)
	if config == nil {
		b.findConfigMap(configMap, "", "it does not exist; %s has no effect", key)
		return nil
	}
	headers := b.usable(configMap, config.Data)
	if b.options.ForeignTemplate {
		return headers
	}
	for _, header := range slices.Sorted(maps.Keys(headers)) {
		known, unknown := escapeUnknownVariables(headers[header], b.further)
		if len(unknown) > 0 {
			b.findConfigMap(configMap, "data."+header, "nginx has no variable %s; the dollar sign is taken literally", unknown[0])
		}
		headers[header] = known
		if len(strconv.Quote(known)) > longestText {
			b.findConfigMap(configMap, "data."+header, "a text of more than %d bytes does not fit into nginx.conf; it is left out", longestText)
			delete(headers, header)
		}
	}
	return headers
}

// mostEntries limits the number of headers and parameters in a ConfigMap, because nginx.conf
// repeats them in each location.
const mostEntries = 500

// usable returns the entries of a ConfigMap that are a valid name and value in nginx.conf. It
// reports the others as findings.
func (b *builder) usable(configMap types.NamespacedName, data map[string]string) map[string]string {
	kept := make(map[string]string)
	if len(data) > mostEntries {
		b.findConfigMap(configMap, "data", "more than %d entries; none is used", mostEntries)
		return kept
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		value := strings.TrimSpace(data[name])
		if !headerName.MatchString(name) || !oneLine.MatchString(value) {
			b.findConfigMap(configMap, "data."+name, "want letters, digits and - _ as its name and one line as its value; it is left out")
			continue
		}
		kept[name] = value
	}
	return kept
}

// fromConfigMaps contains the data of the ConfigMaps that an ingress's annotations name.
type fromConfigMaps struct {
	denied        *string // why its requests get 503
	answerHeaders map[string]string
	authHeaders   map[string]string
	fastCGIParams map[string]string
}

// configMapsOf looks up the ConfigMaps of an ingress and caches the result.
func (b *builder) configMapsOf(ingress *networkingv1.Ingress) *fromConfigMaps {
	if known := b.named[ingress]; known != nil {
		return known
	}
	set := b.annotations(ingress)
	found := new(fromConfigMaps)
	found.answerHeaders = b.lookUp(found, ingress, "custom-headers", set.CustomHeaders)
	found.authHeaders = b.lookUp(found, ingress, "auth-proxy-set-headers", set.ExternalAuth.ProxySetHeadersMap)
	found.fastCGIParams = b.lookUp(found, ingress, "fastcgi-params-configmap", set.FastCGI.ParamsMap)
	for _, header := range slices.Sorted(maps.Keys(found.answerHeaders)) {
		if !b.allowed(header) {
			b.deny(found, ingress, "custom-headers", "header "+header+" is not in global-allowed-response-headers")
		}
	}
	b.named[ingress] = found
	return found
}

func (b *builder) lookUp(found *fromConfigMaps, ingress *networkingv1.Ingress, annotation, name string) map[string]string {
	if name == "" {
		return nil
	}
	configMap := parseName(name)
	config := b.configMap(configMap)
	if config == nil {
		b.deny(found, ingress, annotation, "the ConfigMap "+name+" does not exist")
		return nil
	}
	return b.usable(configMap, config.Data)
}

func (b *builder) deny(found *fromConfigMaps, ingress *networkingv1.Ingress, annotation, reason string) {
	key := b.annotationKey(annotation)
	b.find(ingress, key, "%s; its requests get 503", reason)
	if found.denied == nil {
		found.denied = new(key + ": " + reason)
	}
}

func (b *builder) allowed(header string) bool {
	return slices.ContainsFunc(b.options.Config.GlobalAllowedResponseHeaders, func(a string) bool { return strings.EqualFold(a, header) })
}

// addConfigMaps adds the contents of its ingress's ConfigMaps to a location.
func (b *builder) addConfigMaps(location *Location) {
	if location.Ingress == nil {
		return
	}
	said := b.configMapsOf(location.Ingress.Ingress)
	if location.Denied == nil {
		location.Denied = said.denied
	}
	location.CustomHeaders.Headers = said.answerHeaders
	location.ExternalAuth.ProxySetHeaders = said.authHeaders
	location.FastCGI.Params = said.fastCGIParams
}
