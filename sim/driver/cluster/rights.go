package cluster

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A controller of one namespace has a Role there. One of several watches them by their label, and then lists
// the objects of all namespaces: its ClusterRole lets it read them. It writes only in those of the run, where
// it has a Role each.

func rule(group string, resources, verbs []string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// reading are the rules for what a controller lists.
func reading() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule("", []string{"services", "secrets", "configmaps"}, []string{"list", "watch"}),
		rule("discovery.k8s.io", []string{"endpointslices"}, []string{"list", "watch"}),
		rule("networking.k8s.io", []string{"ingresses"}, []string{"list", "watch"}),
	}
}

// checking are the rules for the check of --watch-namespace.
func checking() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{rule("", []string{"namespaces"}, []string{"get"})}
}

// recording are the rules for its Events.
func recording() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{rule("", []string{"events"}, []string{"create", "patch"})}
}

// reporting are the rules for what it writes about ingresses.
func reporting() []rbacv1.PolicyRule {
	return append(recording(),
		rule("networking.k8s.io", []string{"ingresses"}, []string{"get"}),
		rule("networking.k8s.io", []string{"ingresses/status"}, []string{"update"}),
	)
}

// clusterWide returns the rules of the controller's ClusterRole, of those of deploy.
func (i *instance) clusterWide(deployed []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	rules := slices.DeleteFunc(deployed, func(r rbacv1.PolicyRule) bool { return !isClusterWide(r) })
	if len(i.names.further()) > 0 {
		rules = append(append(rules, reading()...), rule("", []string{"namespaces"}, []string{"list", "watch"}))
	}
	return rules
}

// isClusterWide reports whether a rule is about objects that are in no namespace: the IngressClasses.
func isClusterWide(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "ingressclasses") }

// atHome returns the rules of the controller's Role at home, in addition to those of deploy.
func (i *instance) atHome() []rbacv1.PolicyRule {
	if len(i.names.further()) > 0 {
		return recording() // about its ConfigMaps
	}
	return slices.Concat(checking(), reading(), reporting())
}

// elsewhere returns the objects for further namespaces that correspond to a Role or a RoleBinding at home.
func (i *instance) elsewhere(object runtime.Object) (all []runtime.Object) {
	rules := reporting()
	if i.subject.Flags[watchNamespace] != "" {
		rules = append(rules, checking()...)
	}
	for _, space := range i.names.further() {
		switch o := object.(type) {
		case *rbacv1.Role:
			all = append(all, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: o.Name}, Rules: rules})
		case *rbacv1.RoleBinding:
			all = append(all, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: o.Name}, RoleRef: o.RoleRef, Subjects: o.Subjects})
		}
	}
	return all
}
