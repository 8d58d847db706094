package explain

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/watch"
)

// Served returns the part of a cluster that a controller for a class serves: without the ingresses
// of other classes, and with the replacements of rejected ingresses.
func Served(cluster snapshot.Snapshot, class string, in compile.Input) snapshot.Snapshot {
	cluster, _, _ = served(cluster, nil, class, in)
	return cluster
}

// served returns the result of Served, the findings about rejected ingresses, and the names of
// ingresses of other classes. before contains the earlier versions of ingresses.
func served(cluster snapshot.Snapshot, before []*networkingv1.Ingress, class string, in compile.Input) (_ snapshot.Snapshot, rejected []model.Finding, leftOut []string) {
	opts, _ := compile.Options(cluster.ConfigMaps[in.ConfigMap], in)
	cluster.Ingresses, leftOut = ofClass(class, cluster.Ingresses)
	cluster, rejected = replaceRejected(cluster, before, opts)
	return cluster, rejected, leftOut
}

// ofClass returns the ingresses of the class or without any class, and the names of all others. It
// compares class names, because manifests rarely contain the IngressClass itself.
func ofClass(class string, all []*networkingv1.Ingress) (ours []*networkingv1.Ingress, others []string) {
	for _, ingress := range all {
		wanted, named := ingress.Annotations[watch.ClassAnnotation]
		if name := ingress.Spec.IngressClassName; name != nil {
			wanted, named = *name, true
		}
		if named && wanted != class {
			others = append(others, snapshot.NameOf(ingress).String())
			continue
		}
		ours = append(ours, ingress)
	}
	return ours, others
}

// replaceRejected replaces ingresses with rejected content by the result of
// quarantine.ReplacementOf, and reports a finding for each.
func replaceRejected(cluster snapshot.Snapshot, before []*networkingv1.Ingress, opts options.Options) (snapshot.Snapshot, []model.Finding) {
	var served []*networkingv1.Ingress
	var findings []model.Finding
	cluster.Closed = make(map[*networkingv1.Ingress]snapshot.Closure)
	for _, ingress := range cluster.Ingresses {
		err := rejectionOf(ingress, opts)
		if err == nil {
			served = append(served, ingress)
			continue
		}
		replacement := quarantine.ReplacementOf(watch.WithoutSuspicious(ingress), version(before, ingress), opts.AnnotationsPrefix)
		if replacement.Ingress != nil {
			served = append(served, replacement.Ingress)
			if replacement.Closure != nil {
				cluster.Closed[replacement.Ingress] = *replacement.Closure
			}
		}
		findings = append(findings, model.Finding{
			Object: "Ingress " + snapshot.NameOf(ingress).String(), Reason: fmt.Sprintf("%v; %s", err, replacement.Description),
		})
	}
	cluster.Ingresses = snapshot.OldestFirst(served)
	return cluster, findings
}

func rejectionOf(ingress *networkingv1.Ingress, opts options.Options) error {
	if err := watch.Inspect(ingress); err != nil {
		return err
	}
	_, _, err := annotations.Parse(ingress, opts)
	return err
}

// version returns the version of an ingress in all; nil if there is none or its spec and
// annotations are the same.
func version(all []*networkingv1.Ingress, ingress *networkingv1.Ingress) *networkingv1.Ingress {
	i := slices.IndexFunc(all, func(other *networkingv1.Ingress) bool { return snapshot.NameOf(other) == snapshot.NameOf(ingress) })
	if i < 0 || equality.Semantic.DeepEqual(all[i].Spec, ingress.Spec) && equality.Semantic.DeepEqual(all[i].Annotations, ingress.Annotations) {
		return nil
	}
	return all[i]
}
