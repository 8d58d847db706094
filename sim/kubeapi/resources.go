package kubeapi

import (
	"k8s.io/apimachinery/pkg/api/validation"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
)

var coreEvents = &resource{version: "v1", name: "events", kind: "Event", short: []string{"ev"}, upsert: true,
	noDependents: true, fields: fieldsOf(eventFields), printer: eventPrinter}

// resources is the table of what the server serves, core first, then by group,
// which is also the order of discovery. The rules in the rows are those of
// kube-apiserver's registry (pkg/registry/<group>/<kind>/strategy.go) at v1.36.
var resources = table{
	{version: "v1", name: "configmaps", kind: "ConfigMap", validatedWhole: true, short: []string{"cm"}, validate: validationOf(validateConfigMap), printer: configMapPrinter},
	{version: "v1", name: "endpoints", kind: "Endpoints", validatedWhole: true, short: []string{"ep"}, upsert: true,
		defaults: defaultsOf(defaultEndpoints), printer: endpointsPrinter},
	coreEvents,
	{version: "v1", name: "limitranges", kind: "LimitRange", short: []string{"limits"}},
	{version: "v1", name: "namespaces", kind: "Namespace", validatedWhole: true, short: []string{"ns"}, clusterScoped: true, status: true,
		subresources: []string{"finalize"}, returnsDeleted: true, noDeleteAll: true, validName: validation.ValidateNamespaceName,
		fields: fieldsOf(namespaceFields), defaults: defaultsOf(defaultNamespace), prepare: prepareOf(prepareNamespace), validate: validationOf(validateNamespace), printer: namespacePrinter},
	{version: "v1", name: "nodes", kind: "Node", short: []string{"no"}, clusterScoped: true, status: true, createsStatus: true,
		fields: fieldsOf(nodeFields), printer: nodePrinter},
	{version: "v1", name: "persistentvolumeclaims", kind: "PersistentVolumeClaim", short: []string{"pvc"}, status: true, returnsDeleted: true,
		defaults: defaultsOf(defaultClaim), printer: claimPrinter},
	{version: "v1", name: "persistentvolumes", kind: "PersistentVolume", short: []string{"pv"}, clusterScoped: true, status: true, returnsDeleted: true,
		defaults: defaultsOf(defaultVolume), printer: volumePrinter},
	{version: "v1", name: "pods", kind: "Pod", validatedWhole: true, short: []string{"po"}, categories: []string{"all"}, status: true, generation: true,
		subresources: []string{"binding"}, returnsDeleted: true, terminates: true, fields: fieldsOf(podFields), defaults: defaultsOf(defaultPod), prepare: prepareOf(preparePod), validate: validationOf(validatePod), printer: podPrinter},
	{version: "v1", name: "podtemplates", kind: "PodTemplate", generation: true},
	{version: "v1", name: "replicationcontrollers", kind: "ReplicationController", short: []string{"rc"}, categories: []string{"all"},
		status: true, scale: true, generation: true, defaults: defaultsOf(defaultReplicationController), printer: replicationControllerPrinter},
	{version: "v1", name: "resourcequotas", kind: "ResourceQuota", short: []string{"quota"}, status: true, returnsDeleted: true},
	{version: "v1", name: "secrets", kind: "Secret", validatedWhole: true, fields: fieldsOf(secretFields), defaults: defaultsOf(defaultSecret),
		validate: validationOf(validateSecret), printer: secretPrinter},
	{version: "v1", name: "serviceaccounts", kind: "ServiceAccount", validatedWhole: true, short: []string{"sa"}, returnsDeleted: true},
	{version: "v1", name: "services", kind: "Service", short: []string{"svc"}, categories: []string{"all"}, status: true, upsert: true,
		returnsDeleted: true, validName: validation.NameIsDNSLabel, fields: fieldsOf(serviceFields),
		defaults: defaultsOf(defaultService), prepare: prepareOf(prepareService), validate: validationOf(validateService), printer: servicePrinter},

	{group: "admissionregistration.k8s.io", version: "v1", name: "mutatingwebhookconfigurations", kind: "MutatingWebhookConfiguration",
		categories: []string{"api-extensions"}, clusterScoped: true, generation: true, defaults: defaultsOf(defaultMutatingWebhooks),
		validate: validationOf(validateMutatingWebhooks), printer: mutatingWebhookPrinter},
	{group: "admissionregistration.k8s.io", version: "v1", name: "validatingwebhookconfigurations", kind: "ValidatingWebhookConfiguration",
		categories: []string{"api-extensions"}, clusterScoped: true, generation: true, defaults: defaultsOf(defaultValidatingWebhooks),
		validate: validationOf(validateValidatingWebhooks), printer: validatingWebhookPrinter},

	{group: "apiextensions.k8s.io", version: "v1", name: "customresourcedefinitions", kind: "CustomResourceDefinition",
		short: []string{"crd", "crds"}, categories: []string{"api-extensions"}, clusterScoped: true, status: true, createsStatus: true,
		generation: true, returnsDeleted: true, defaults: defaultsOf(defaultDefinition), prepare: prepareOf(prepareDefinition), validate: validationOf(validateDefinition)},

	{group: "apps", version: "v1", name: "controllerrevisions", kind: "ControllerRevision"},
	{group: "apps", version: "v1", name: "daemonsets", kind: "DaemonSet", short: []string{"ds"}, categories: []string{"all"}, status: true, generation: true,
		defaults: defaultsOf(defaultDaemonSet), printer: daemonSetPrinter},
	{group: "apps", version: "v1", name: "deployments", kind: "Deployment", short: []string{"deploy"}, categories: []string{"all"}, status: true, scale: true, generation: true,
		defaults: defaultsOf(defaultDeployment), printer: deploymentPrinter},
	{group: "apps", version: "v1", name: "replicasets", kind: "ReplicaSet", short: []string{"rs"}, categories: []string{"all"}, status: true, scale: true, generation: true,
		defaults: defaultsOf(defaultReplicaSet), printer: replicaSetPrinter},
	{group: "apps", version: "v1", name: "statefulsets", kind: "StatefulSet", short: []string{"sts"}, categories: []string{"all"}, status: true, scale: true, generation: true,
		defaults: defaultsOf(defaultStatefulSet), printer: statefulSetPrinter},

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

	{group: "autoscaling", version: "v2", name: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", short: []string{"hpa"},
		categories: []string{"all"}, status: true, printer: autoscalerPrinter},

	{group: "batch", version: "v1", name: "cronjobs", kind: "CronJob", short: []string{"cj"}, categories: []string{"all"}, status: true, generation: true,
		printer: cronJobPrinter},
	{group: "batch", version: "v1", name: "jobs", kind: "Job", categories: []string{"all"}, status: true, generation: true, printer: jobPrinter},

	{group: "certificates.k8s.io", version: "v1", name: "certificatesigningrequests", kind: "CertificateSigningRequest", short: []string{"csr"},
		clusterScoped: true, status: true},

	{group: "coordination.k8s.io", version: "v1", name: "leases", kind: "Lease", upsert: true, needsRV: true, validate: validationOf(validateLease), printer: leasePrinter},

	{group: "discovery.k8s.io", version: "v1", name: "endpointslices", kind: "EndpointSlice", generation: true, generationLabels: true, bulk: bulk{2, "Endpoints"},
		defaults: defaultsOf(defaultEndpointSlice), prepare: prepareOf(prepareEndpointSlice), validate: validationOf(validateEndpointSlice), printer: endpointSlicePrinter},

	{group: "events.k8s.io", version: "v1", name: "events", kind: "Event", short: []string{"ev"}, upsert: true,
		printer: eventPrinter, view: &view{of: coreEvents, show: showEvent, unshow: unshowEvent}},

	{group: "networking.k8s.io", version: "v1", name: "ingressclasses", kind: "IngressClass", clusterScoped: true, generation: true, validate: validationOf(validateIngressClass),
		printer: ingressClassPrinter},
	{group: "networking.k8s.io", version: "v1", name: "ingresses", kind: "Ingress", validatedWhole: true, short: []string{"ing"}, status: true, generation: true,
		validate: validationOf(validateIngress), printer: ingressPrinter},
	{group: "networking.k8s.io", version: "v1", name: "ipaddresses", kind: "IPAddress", short: []string{"ip"}, clusterScoped: true, generation: true,
		printer: ipAddressPrinter},
	{group: "networking.k8s.io", version: "v1", name: "networkpolicies", kind: "NetworkPolicy", short: []string{"netpol"}, generation: true,
		printer: networkPolicyPrinter},
	{group: "networking.k8s.io", version: "v1", name: "servicecidrs", kind: "ServiceCIDR", clusterScoped: true, status: true, generation: true,
		printer: serviceCIDRPrinter},

	{group: "node.k8s.io", version: "v1", name: "runtimeclasses", kind: "RuntimeClass", clusterScoped: true, printer: runtimeClassPrinter},

	{group: "policy", version: "v1", name: "poddisruptionbudgets", kind: "PodDisruptionBudget", short: []string{"pdb"}, status: true, generation: true,
		printer: disruptionBudgetPrinter},

	{group: "rbac.authorization.k8s.io", version: "v1", name: "clusterrolebindings", kind: "ClusterRoleBinding", clusterScoped: true,
		upsert: true, validName: pathvalidation.ValidatePathSegmentName, printer: clusterRoleBindingPrinter},
	{group: "rbac.authorization.k8s.io", version: "v1", name: "clusterroles", kind: "ClusterRole", clusterScoped: true,
		upsert: true, validName: pathvalidation.ValidatePathSegmentName},
	{group: "rbac.authorization.k8s.io", version: "v1", name: "rolebindings", kind: "RoleBinding",
		upsert: true, validName: pathvalidation.ValidatePathSegmentName, printer: roleBindingPrinter},
	{group: "rbac.authorization.k8s.io", version: "v1", name: "roles", kind: "Role",
		upsert: true, validName: pathvalidation.ValidatePathSegmentName},

	{group: "scheduling.k8s.io", version: "v1", name: "priorityclasses", kind: "PriorityClass", short: []string{"pc"}, clusterScoped: true,
		generation: true, printer: priorityClassPrinter},

	{group: "storage.k8s.io", version: "v1", name: "csidrivers", kind: "CSIDriver", clusterScoped: true, returnsDeleted: true},
	{group: "storage.k8s.io", version: "v1", name: "csinodes", kind: "CSINode", clusterScoped: true, returnsDeleted: true},
	{group: "storage.k8s.io", version: "v1", name: "csistoragecapacities", kind: "CSIStorageCapacity"},
	{group: "storage.k8s.io", version: "v1", name: "storageclasses", kind: "StorageClass", short: []string{"sc"}, clusterScoped: true,
		returnsDeleted: true, defaults: defaultsOf(defaultStorageClass), printer: storageClassPrinter},
	{group: "storage.k8s.io", version: "v1", name: "volumeattachments", kind: "VolumeAttachment", clusterScoped: true, status: true, returnsDeleted: true},
}

func init() {
	for _, res := range resources {
		res.apiVersion = res.groupVersion().String()
	}
}
