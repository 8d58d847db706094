package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/internal/kinds/validation"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// webhook is one webhook of one configuration.
type webhook struct {
	admissionregistrationv1.ValidatingWebhook // a mutating webhook has the same fields, as far as this package uses them
	mutating                                  bool
	namespaces, objects                       labels.Selector
	client                                    func() (*rest.RESTClient, error)
}

// Webhooks holds the webhooks of all configurations. A write only reads the two lists, which are
// empty in most clusters.
type Webhooks struct {
	// Reviewed is called at the end of each call of a webhook. It must be safe for concurrent use, and may
	// be nil.
	Reviewed func(Review)

	namespaces           *store.Collection
	mutating, validating atomic.Pointer[[]*webhook]
}

// Watch updates the lists when a configuration is stored or deleted.
func (hs *Webhooks) Watch(namespaces, validating, mutating *store.Collection, resolve ServiceResolver) {
	hs.namespaces = namespaces
	watchHooks(validating, &hs.validating, func(o *store.Object) ([]*webhook, error) {
		return readHooks(o, resolve, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) []webhook { return validatingHooks(c) })
	})
	watchHooks(mutating, &hs.mutating, func(o *store.Object) ([]*webhook, error) {
		return readHooks(o, resolve, func(c *admissionregistrationv1.MutatingWebhookConfiguration) []webhook { return mutatingHooks(c) })
	})
}

// watchHooks updates a list with the webhooks of the configurations in c.
func watchHooks(c *store.Collection, list *atomic.Pointer[[]*webhook], read func(*store.Object) ([]*webhook, error)) {
	configurations := map[string][]*webhook{}
	c.Observe(func(e store.Event) {
		delete(configurations, e.Object.Name)
		if e.Kind != watch.Deleted {
			hooks, err := read(e.Object)
			if err != nil {
				return // validation accepts only valid configurations
			}
			configurations[e.Object.Name] = hooks
		}
		var all []*webhook
		for _, name := range slices.Sorted(maps.Keys(configurations)) {
			all = append(all, configurations[name]...)
		}
		list.Store(&all)
	})
	list.Store(new([]*webhook))
}

func readHooks[T any](o *store.Object, resolve ServiceResolver, hooksOf func(T) []webhook) ([]*webhook, error) {
	obj, err := o.Decode()
	if err != nil {
		return nil, err
	}
	var hooks []*webhook
	for _, h := range hooksOf(obj.(T)) {
		if h.namespaces, err = metav1.LabelSelectorAsSelector(h.NamespaceSelector); err != nil {
			return nil, fmt.Errorf("namespaceSelector of webhook %s: %w", h.Name, err)
		}
		if h.objects, err = metav1.LabelSelectorAsSelector(h.ObjectSelector); err != nil {
			return nil, fmt.Errorf("objectSelector of webhook %s: %w", h.Name, err)
		}
		h.client = clientOf(h.ClientConfig, resolve)
		hooks = append(hooks, &h)
	}
	return hooks, nil
}

func validatingHooks(c *admissionregistrationv1.ValidatingWebhookConfiguration) []webhook {
	var hooks []webhook
	for _, h := range c.Webhooks {
		hooks = append(hooks, webhook{ValidatingWebhook: h})
	}
	return hooks
}

func mutatingHooks(c *admissionregistrationv1.MutatingWebhookConfiguration) []webhook {
	var hooks []webhook
	for _, h := range validation.AsValidating(c.Webhooks) {
		hooks = append(hooks, webhook{mutating: true, ValidatingWebhook: h})
	}
	return hooks
}

// wants reports whether the webhook is asked about a. Only the requested resource is matched, even
// if the matchPolicy includes equivalent ones. matchConditions, which are CEL, always match.
func (h *webhook) wants(a *attributes) bool {
	return slices.ContainsFunc(h.Rules, a.covered) && h.selectsNamespace(a) && h.selectsObject(a)
}

func (a *attributes) covered(rule admissionregistrationv1.RuleWithOperations) bool {
	res := a.Resource
	operation := admissionregistrationv1.OperationType(a.operation)
	if !anyOf(rule.Operations, operation) || !anyOf(rule.APIGroups, res.Group) || !anyOf(rule.APIVersions, res.Version) {
		return false
	}
	if scope := rule.Scope; scope != nil && *scope != admissionregistrationv1.AllScopes &&
		(*scope == admissionregistrationv1.ClusterScope) != res.ClusterScoped {
		return false
	}
	return slices.ContainsFunc(rule.Resources, func(pattern string) bool { return coversResource(pattern, res.Name, a.Subresource) })
}

// anyOf reports whether a rule's list has the value, or a star for all.
func anyOf[T ~string](list []T, value T) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

// coversResource matches ingresses, ingresses/status, ingresses/*, */status, * and */*.
func coversResource(pattern, name, subresource string) bool {
	wantName, wantSub, _ := strings.Cut(pattern, "/")
	return (wantName == "*" || wantName == name) && (wantSub == subresource || wantSub == "*")
}

// selectsNamespace matches the selector to the labels of the object's namespace, or to the object's
// own labels if it is a namespace.
func (h *webhook) selectsNamespace(a *attributes) bool {
	res := a.Resource
	if h.namespaces.Empty() || (res.ClusterScoped && res != a.namespaces.Resource) {
		return true
	}
	if res == a.namespaces.Resource {
		return h.namespaces.Matches(labels.Set(object.Meta(cmp.Or(a.object, a.old)).Labels))
	}
	ns := a.namespaces.Get(a.namespace)
	return ns != nil && h.namespaces.Matches(ns.Labels)
}

func (h *webhook) selectsObject(a *attributes) bool {
	if h.objects.Empty() {
		return true
	}
	return (a.object != nil && h.objects.Matches(labels.Set(object.Meta(a.object).Labels))) ||
		(a.old != nil && h.objects.Matches(labels.Set(object.Meta(a.old).Labels)))
}
