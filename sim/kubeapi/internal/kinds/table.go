// Package kinds is the table of the built-in kinds. It stands between the packages with the rules
// of single kinds (defaults, validation, columns) and the server, which serves every row in the
// same way. Its one rule: a kind is one row here; nothing else in the server checks the kind of an
// object, unless that kind has a subresource or a lifecycle of its own.
package kinds

import (
	"reflect"
	"sync"

	machinery "k8s.io/apimachinery/pkg/api/validation"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"

	"windtunnel.dev/sim/kubeapi/internal/custom"
	"windtunnel.dev/sim/kubeapi/internal/kinds/admit"
	"windtunnel.dev/sim/kubeapi/internal/kinds/columns"
	"windtunnel.dev/sim/kubeapi/internal/kinds/defaults"
	"windtunnel.dev/sim/kubeapi/internal/kinds/validation"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// The kinds that clients post to subresources. They are not in the table, because they are never
// stored.
var (
	Bindings      = &resource.Resource{Version: "v1", Name: "bindings", Kind: "Binding"}
	Evictions     = &resource.Resource{Group: "policy", Version: "v1", Name: "evictions", Kind: "Eviction"}
	TokenRequests = &resource.Resource{Group: "authentication.k8s.io", Version: "v1", Name: "tokenrequests", Kind: "TokenRequest",
		Defaults: defaultsOf(defaults.TokenRequest)}
)

var coreEvents = &resource.Resource{Version: "v1", Name: "events", Kind: "Event", Short: []string{"ev"}, Upsert: true,
	NoDependents: true, Fields: fieldsOf(eventFields), Printer: columns.Event}

var autoscalers = &resource.Resource{Group: "autoscaling", Version: "v2", Name: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler",
	Short: []string{"hpa"}, Categories: []string{"all"}, Status: true,
	Defaults: defaultsOf(defaults.Autoscaler), Validate: validationOf(validation.Autoscaler), Printer: columns.Autoscaler}

// BuiltIn is the table of the built-in resources: first the core group, then the other groups.
// Discovery uses the same order. The rules in the rows are those of kube-apiserver's registry
// (pkg/registry/<group>/<kind>/strategy.go) at v1.36.
var BuiltIn = resource.Table{
	{Version: "v1", Name: "configmaps", Kind: "ConfigMap", ValidatedWhole: true, Short: []string{"cm"}, Validate: validationOf(validation.ConfigMap), Printer: columns.ConfigMap},
	{Version: "v1", Name: "endpoints", Kind: "Endpoints", ValidatedWhole: true, Short: []string{"ep"}, Upsert: true,
		Defaults: defaultsOf(defaults.Endpoints), Printer: columns.Endpoints},
	coreEvents,
	{Version: "v1", Name: "limitranges", Kind: "LimitRange", Short: []string{"limits"}, Defaults: defaultsOf(defaults.LimitRange)},
	{Version: "v1", Name: "namespaces", Kind: "Namespace", ValidatedWhole: true, Short: []string{"ns"}, ClusterScoped: true, Status: true,
		Subresources: []string{"finalize"}, ReturnsDeleted: true, NoDeleteAll: true, ValidName: machinery.ValidateNamespaceName,
		Fields: fieldsOf(namespaceFields), Defaults: defaultsOf(defaults.Namespace), Prepare: prepareOf(defaults.PrepareNamespace), Validate: validationOf(validation.Namespace), Printer: columns.Namespace},
	{Version: "v1", Name: "nodes", Kind: "Node", Short: []string{"no"}, ClusterScoped: true, Status: true, CreatesStatus: true,
		Fields: fieldsOf(nodeFields), Printer: columns.Node},
	{Version: "v1", Name: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Short: []string{"pvc"}, Status: true, ReturnsDeleted: true,
		Defaults: defaultsOf(defaults.Claim), Printer: columns.Claim},
	{Version: "v1", Name: "persistentvolumes", Kind: "PersistentVolume", Short: []string{"pv"}, ClusterScoped: true, Status: true, ReturnsDeleted: true,
		Defaults: defaultsOf(defaults.Volume), Printer: columns.Volume},
	{Version: "v1", Name: "pods", Kind: "Pod", ValidatedWhole: true, Short: []string{"po"}, Categories: []string{"all"}, Status: true, Generation: true,
		Posts: []resource.Post{{Name: "binding", Kind: Bindings}, {Name: "eviction", Kind: Evictions}}, ReturnsDeleted: true, Terminates: true, Fields: fieldsOf(podFields), Admit: admit.Pod, Defaults: defaultsOf(defaults.Pod), Prepare: prepareOf(defaults.PreparePod), Validate: validationOf(validation.Pod), Printer: columns.Pod},
	{Version: "v1", Name: "podtemplates", Kind: "PodTemplate", Generation: true},
	{Version: "v1", Name: "replicationcontrollers", Kind: "ReplicationController", Short: []string{"rc"}, Categories: []string{"all"},
		Status: true, Scale: true, Generation: true, Fields: fieldsOf(replicationControllerFields), Defaults: defaultsOf(defaults.ReplicationController), Printer: columns.ReplicationController},
	{Version: "v1", Name: "resourcequotas", Kind: "ResourceQuota", Short: []string{"quota"}, Status: true, ReturnsDeleted: true,
		Printer: columns.ResourceQuota},
	{Version: "v1", Name: "secrets", Kind: "Secret", ValidatedWhole: true, Fields: fieldsOf(secretFields), Defaults: defaultsOf(defaults.Secret),
		Validate: validationOf(validation.Secret), Printer: columns.Secret},
	{Version: "v1", Name: "serviceaccounts", Kind: "ServiceAccount", ValidatedWhole: true, Short: []string{"sa"}, ReturnsDeleted: true,
		Posts: []resource.Post{{Name: "token", Kind: TokenRequests}}, Printer: columns.ServiceAccount},
	{Version: "v1", Name: "services", Kind: "Service", Short: []string{"svc"}, Categories: []string{"all"}, Status: true, Upsert: true,
		ReturnsDeleted: true, ValidName: machinery.NameIsDNSLabel, Fields: fieldsOf(serviceFields),
		Defaults: defaultsOf(defaults.Service), Prepare: prepareOf(defaults.PrepareService), Validate: validationOf(validation.Service), Printer: columns.Service},

	{Group: "admissionregistration.k8s.io", Version: "v1", Name: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration",
		Categories: []string{"api-extensions"}, ClusterScoped: true, Generation: true, Defaults: defaultsOf(defaults.MutatingWebhooks),
		Validate: validationOf(validation.MutatingWebhooks), Printer: columns.MutatingWebhook},
	{Group: "admissionregistration.k8s.io", Version: "v1", Name: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration",
		Categories: []string{"api-extensions"}, ClusterScoped: true, Generation: true, Defaults: defaultsOf(defaults.ValidatingWebhooks),
		Validate: validationOf(validation.ValidatingWebhooks), Printer: columns.ValidatingWebhook},

	{Group: "apiextensions.k8s.io", Version: "v1", Name: "customresourcedefinitions", Kind: "CustomResourceDefinition",
		Short: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, ClusterScoped: true, Status: true, CreatesStatus: true,
		Generation: true, ReturnsDeleted: true, Defaults: defaultsOf(custom.Default), Prepare: prepareOf(custom.Prepare), Validate: validationOf(custom.Validate)},

	{Group: "apps", Version: "v1", Name: "controllerrevisions", Kind: "ControllerRevision", Validate: validationOf(validation.ControllerRevision), Printer: columns.ControllerRevision},
	{Group: "apps", Version: "v1", Name: "daemonsets", Kind: "DaemonSet", Short: []string{"ds"}, Categories: []string{"all"}, Status: true, Generation: true,
		Defaults: defaultsOf(defaults.DaemonSet), Prepare: prepareOf(defaults.PrepareDaemonSet), Validate: validationOf(validation.DaemonSet), Printer: columns.DaemonSet},
	{Group: "apps", Version: "v1", Name: "deployments", Kind: "Deployment", Short: []string{"deploy"}, Categories: []string{"all"}, Status: true, Scale: true, Generation: true,
		Defaults: defaultsOf(defaults.Deployment), Validate: validationOf(validation.Deployment), Printer: columns.Deployment},
	{Group: "apps", Version: "v1", Name: "replicasets", Kind: "ReplicaSet", Short: []string{"rs"}, Categories: []string{"all"}, Status: true, Scale: true, Generation: true,
		Fields: fieldsOf(replicaSetFields), Defaults: defaultsOf(defaults.ReplicaSet), Validate: validationOf(validation.ReplicaSet), Printer: columns.ReplicaSet},
	{Group: "apps", Version: "v1", Name: "statefulsets", Kind: "StatefulSet", Short: []string{"sts"}, Categories: []string{"all"}, Status: true, Scale: true, Generation: true,
		Defaults: defaultsOf(defaults.StatefulSet), Decoded: decodedOf(defaults.ClaimTemplates), Validate: validationOf(validation.StatefulSet), Printer: columns.StatefulSet},

	{Group: "authentication.k8s.io", Version: "v1", Name: "selfsubjectreviews", Kind: "SelfSubjectReview", ClusterScoped: true,
		Review: reviewOf(reviewSelf)},
	{Group: "authentication.k8s.io", Version: "v1", Name: "tokenreviews", Kind: "TokenReview", ClusterScoped: true,
		Review: reviewOf(reviewToken)},

	{Group: "authorization.k8s.io", Version: "v1", Name: "localsubjectaccessreviews", Kind: "LocalSubjectAccessReview",
		Review: reviewOf(reviewLocalAccess)},
	{Group: "authorization.k8s.io", Version: "v1", Name: "selfsubjectaccessreviews", Kind: "SelfSubjectAccessReview", ClusterScoped: true,
		Review: reviewOf(reviewSelfAccess)},
	{Group: "authorization.k8s.io", Version: "v1", Name: "selfsubjectrulesreviews", Kind: "SelfSubjectRulesReview", ClusterScoped: true,
		Review: reviewOf(reviewSelfRules)},
	{Group: "authorization.k8s.io", Version: "v1", Name: "subjectaccessreviews", Kind: "SubjectAccessReview", ClusterScoped: true,
		Review: reviewOf(reviewAccess)},

	autoscalers,
	{Group: "autoscaling", Version: "v1", Name: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler", Short: []string{"hpa"},
		Categories: []string{"all"}, Status: true, Printer: columns.Autoscaler,
		View: &resource.View{Of: autoscalers, FromStored: autoscalerToV1, ToStored: autoscalerFromV1}},

	{Group: "batch", Version: "v1", Name: "cronjobs", Kind: "CronJob", Short: []string{"cj"}, Categories: []string{"all"}, Status: true, Generation: true,
		Defaults: defaultsOf(defaults.CronJob), Validate: validationOf(validation.CronJob), Printer: columns.CronJob},
	{Group: "batch", Version: "v1", Name: "jobs", Kind: "Job", Categories: []string{"all"}, Status: true, Generation: true,
		Fields: fieldsOf(jobFields), Defaults: defaultsOf(defaults.Job), Prepare: prepareOf(defaults.PrepareJob), Validate: validationOf(validation.Job), Printer: columns.Job},

	{Group: "certificates.k8s.io", Version: "v1", Name: "certificatesigningrequests", Kind: "CertificateSigningRequest", Short: []string{"csr"},
		ClusterScoped: true, Status: true, Fields: fieldsOf(signingRequestFields)},

	{Group: "coordination.k8s.io", Version: "v1", Name: "leases", Kind: "Lease", Upsert: true, NeedsVersion: true, Validate: validationOf(validation.Lease), Printer: columns.Lease},

	{Group: "discovery.k8s.io", Version: "v1", Name: "endpointslices", Kind: "EndpointSlice", Generation: true, GenerationLabels: true, LargeField: resource.LargeField{Field: 2, Name: "Endpoints"},
		Defaults: defaultsOf(defaults.EndpointSlice), Prepare: prepareOf(defaults.PrepareEndpointSlice), Validate: validationOf(validation.EndpointSlice), Printer: columns.EndpointSlice},

	{Group: "events.k8s.io", Version: "v1", Name: "events", Kind: "Event", Short: []string{"ev"}, Upsert: true,
		Printer: columns.Event, View: &resource.View{Of: coreEvents, FromStored: eventFromCore, ToStored: eventToCore, Fields: newEventFields}},

	{Group: "networking.k8s.io", Version: "v1", Name: "ingressclasses", Kind: "IngressClass", ClusterScoped: true, Generation: true, Validate: validationOf(validation.IngressClass),
		Printer: columns.IngressClass},
	{Group: "networking.k8s.io", Version: "v1", Name: "ingresses", Kind: "Ingress", ValidatedWhole: true, Short: []string{"ing"}, Status: true, Generation: true, Admit: admit.Ingress,
		Validate: validationOf(validation.Ingress), Printer: columns.Ingress},
	{Group: "networking.k8s.io", Version: "v1", Name: "ipaddresses", Kind: "IPAddress", Short: []string{"ip"}, ClusterScoped: true, Generation: true,
		Printer: columns.IpAddress},
	{Group: "networking.k8s.io", Version: "v1", Name: "networkpolicies", Kind: "NetworkPolicy", Short: []string{"netpol"}, Generation: true,
		Printer: columns.NetworkPolicy},
	{Group: "networking.k8s.io", Version: "v1", Name: "servicecidrs", Kind: "ServiceCIDR", ClusterScoped: true, Status: true, Generation: true,
		Printer: columns.ServiceCIDR},

	{Group: "node.k8s.io", Version: "v1", Name: "runtimeclasses", Kind: "RuntimeClass", ClusterScoped: true, Printer: columns.RuntimeClass},

	{Group: "policy", Version: "v1", Name: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Short: []string{"pdb"}, Status: true, Generation: true,
		Validate: validationOf(validation.DisruptionBudget), Printer: columns.DisruptionBudget},

	{Group: "rbac.authorization.k8s.io", Version: "v1", Name: "clusterrolebindings", Kind: "ClusterRoleBinding", ClusterScoped: true,
		Upsert: true, ValidName: pathvalidation.ValidatePathSegmentName, Printer: columns.ClusterRoleBinding},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Name: "clusterroles", Kind: "ClusterRole", ClusterScoped: true,
		Upsert: true, ValidName: pathvalidation.ValidatePathSegmentName},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Name: "rolebindings", Kind: "RoleBinding",
		Upsert: true, ValidName: pathvalidation.ValidatePathSegmentName, Printer: columns.RoleBinding},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Name: "roles", Kind: "Role",
		Upsert: true, ValidName: pathvalidation.ValidatePathSegmentName},

	{Group: "scheduling.k8s.io", Version: "v1", Name: "priorityclasses", Kind: "PriorityClass", Short: []string{"pc"}, ClusterScoped: true,
		Generation: true, Printer: columns.PriorityClass},

	{Group: "storage.k8s.io", Version: "v1", Name: "csidrivers", Kind: "CSIDriver", ClusterScoped: true, ReturnsDeleted: true},
	{Group: "storage.k8s.io", Version: "v1", Name: "csinodes", Kind: "CSINode", ClusterScoped: true, ReturnsDeleted: true},
	{Group: "storage.k8s.io", Version: "v1", Name: "csistoragecapacities", Kind: "CSIStorageCapacity"},
	{Group: "storage.k8s.io", Version: "v1", Name: "storageclasses", Kind: "StorageClass", Short: []string{"sc"}, ClusterScoped: true,
		ReturnsDeleted: true, Defaults: defaultsOf(defaults.StorageClass), Printer: columns.StorageClass},
	{Group: "storage.k8s.io", Version: "v1", Name: "volumeattachments", Kind: "VolumeAttachment", ClusterScoped: true, Status: true, ReturnsDeleted: true},
}

func init() {
	for _, res := range BuiltIn {
		res.APIVersion = res.GroupVersion().String()
		res.GoType = reflect.TypeOf(res.Empty()).Elem()
	}
}

// ByType maps a Go type to its row.
var ByType = sync.OnceValue(func() map[reflect.Type]*resource.Resource {
	byType := map[reflect.Type]*resource.Resource{}
	for _, res := range BuiltIn {
		byType[reflect.TypeOf(res.Empty())] = res
	}
	return byType
})
