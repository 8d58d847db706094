package kubeapi

import "k8s.io/apimachinery/pkg/api/validation"

var coreEvents = &resource{version: "v1", name: "events", kind: "Event", short: []string{"ev"}, upsert: true,
	fields: fieldsOf(eventFields), printer: eventPrinter}

// resources is the table of what the server serves, core first, then by group,
// which is also the order of discovery. The rules in the rows are those of
// kube-apiserver's registry (pkg/registry/<group>/<kind>/strategy.go) at v1.36.
var resources = []*resource{
	{version: "v1", name: "configmaps", kind: "ConfigMap", short: []string{"cm"}, printer: configMapPrinter},
	{version: "v1", name: "endpoints", kind: "Endpoints", short: []string{"ep"}, upsert: true,
		defaults: defaultsOf(defaultEndpoints), printer: endpointsPrinter},
	coreEvents,
	{version: "v1", name: "namespaces", kind: "Namespace", short: []string{"ns"}, clusterScoped: true, status: true,
		subresources: []string{"finalize"}, returnsDeleted: true, validName: validation.ValidateNamespaceName,
		fields: fieldsOf(namespaceFields), defaults: defaultsOf(defaultNamespace), printer: namespacePrinter},
	{version: "v1", name: "nodes", kind: "Node", short: []string{"no"}, clusterScoped: true, status: true, createsStatus: true,
		fields: fieldsOf(nodeFields), printer: nodePrinter},
	{version: "v1", name: "pods", kind: "Pod", short: []string{"po"}, categories: []string{"all"}, status: true, generation: true,
		subresources: []string{"binding"}, returnsDeleted: true, fields: fieldsOf(podFields), defaults: defaultsOf(defaultPod), printer: podPrinter},
	{version: "v1", name: "secrets", kind: "Secret", fields: fieldsOf(secretFields), defaults: defaultsOf(defaultSecret),
		validate: validationOf(validateSecret), printer: secretPrinter},
	{version: "v1", name: "serviceaccounts", kind: "ServiceAccount", short: []string{"sa"}, returnsDeleted: true},
	{version: "v1", name: "services", kind: "Service", short: []string{"svc"}, categories: []string{"all"}, status: true, upsert: true,
		returnsDeleted: true, validName: validation.NameIsDNS1035Label, fields: fieldsOf(serviceFields),
		defaults: defaultsOf(defaultService), validate: validationOf(validateService), printer: servicePrinter},

	{group: "apps", version: "v1", name: "daemonsets", kind: "DaemonSet", short: []string{"ds"}, categories: []string{"all"}, status: true, generation: true,
		defaults: defaultsOf(defaultDaemonSet)},
	{group: "apps", version: "v1", name: "deployments", kind: "Deployment", short: []string{"deploy"}, categories: []string{"all"}, status: true, generation: true,
		defaults: defaultsOf(defaultDeployment), printer: deploymentPrinter},
	{group: "apps", version: "v1", name: "replicasets", kind: "ReplicaSet", short: []string{"rs"}, categories: []string{"all"}, status: true, generation: true,
		defaults: defaultsOf(defaultReplicaSet), printer: replicaSetPrinter},
	{group: "apps", version: "v1", name: "statefulsets", kind: "StatefulSet", short: []string{"sts"}, categories: []string{"all"}, status: true, generation: true,
		defaults: defaultsOf(defaultStatefulSet)},

	{group: "authentication.k8s.io", version: "v1", name: "selfsubjectreviews", kind: "SelfSubjectReview", clusterScoped: true,
		review: reviewOf(reviewSelf)},

	{group: "authorization.k8s.io", version: "v1", name: "localsubjectaccessreviews", kind: "LocalSubjectAccessReview",
		review: reviewOf(reviewLocalAccess)},
	{group: "authorization.k8s.io", version: "v1", name: "selfsubjectaccessreviews", kind: "SelfSubjectAccessReview", clusterScoped: true,
		review: reviewOf(reviewSelfAccess)},
	{group: "authorization.k8s.io", version: "v1", name: "selfsubjectrulesreviews", kind: "SelfSubjectRulesReview", clusterScoped: true,
		review: reviewOf(reviewSelfRules)},
	{group: "authorization.k8s.io", version: "v1", name: "subjectaccessreviews", kind: "SubjectAccessReview", clusterScoped: true,
		review: reviewOf(reviewAccess)},

	{group: "coordination.k8s.io", version: "v1", name: "leases", kind: "Lease", upsert: true, needsRV: true, printer: leasePrinter},

	{group: "discovery.k8s.io", version: "v1", name: "endpointslices", kind: "EndpointSlice", generation: true, generationLabels: true, bulk: bulk{2, "Endpoints"},
		defaults: defaultsOf(defaultEndpointSlice), validate: validationOf(validateEndpointSlice), printer: endpointSlicePrinter},

	{group: "events.k8s.io", version: "v1", name: "events", kind: "Event", short: []string{"ev"}, upsert: true,
		printer: eventPrinter, view: &view{of: coreEvents, show: showEvent, unshow: unshowEvent}},

	{group: "networking.k8s.io", version: "v1", name: "ingressclasses", kind: "IngressClass", clusterScoped: true, generation: true,
		printer: ingressClassPrinter},
	{group: "networking.k8s.io", version: "v1", name: "ingresses", kind: "Ingress", short: []string{"ing"}, status: true, generation: true,
		validate: validationOf(validateIngress), printer: ingressPrinter},
	{group: "networking.k8s.io", version: "v1", name: "networkpolicies", kind: "NetworkPolicy", short: []string{"netpol"}, generation: true},
}
