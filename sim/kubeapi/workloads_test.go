package kubeapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func job(name string) *batchv1.Job {
	spec := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec}}}
}

func TestJobSelectsItsOwnPods(t *testing.T) {
	jobs := client(t, start(t).Config()).BatchV1().Jobs("default")
	created, err := jobs.Create(t.Context(), job("once"), metav1.CreateOptions{})
	check(t, err)
	uid := string(created.UID)
	want := map[string]string{"app": "once", "job-name": "once", "controller-uid": uid, batchv1.JobNameLabel: "once", batchv1.ControllerUidLabel: uid}
	if got := created.Spec.Template.Labels; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("labels of the template %v, want %v", got, want)
	}
	if got := created.Spec.Selector.MatchLabels; fmt.Sprint(got) != fmt.Sprint(map[string]string{batchv1.ControllerUidLabel: uid}) {
		t.Errorf("selector %v", got)
	}
	if fmt.Sprint(created.Labels) != fmt.Sprint(want) {
		t.Errorf("labels %v, want those of the template", created.Labels)
	}
	if s := created.Spec; *s.Completions != 1 || *s.Parallelism != 1 || *s.BackoffLimit != 6 || *s.Suspend || *s.CompletionMode != batchv1.NonIndexedCompletion {
		t.Errorf("defaults %+v", s)
	}
	created.Spec.Template.Spec.Containers[0].Image = "other"
	if _, err := jobs.Update(t.Context(), created, metav1.UpdateOptions{}); !errors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.template: Invalid value") {
		t.Errorf("changed template: %v", err)
	}
}

// The selector of every workload must match its template.
func TestSelectorMustMatchTemplate(t *testing.T) {
	c := client(t, start(t).Config())
	d := deployment("web", 1)
	d.Spec.Template.Labels = map[string]string{"app": "other"}
	spec := d.Spec
	manual := job("web")
	manual.Spec.ManualSelector, manual.Spec.Selector = new(true), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "none"}}
	tries := map[string]func() error{
		"Deployment": func() error {
			_, err := c.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{})
			return err
		},
		"ReplicaSet": func() error {
			rs := &appsv1.ReplicaSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Selector: spec.Selector, Template: spec.Template}}
			_, err := c.AppsV1().ReplicaSets("default").Create(t.Context(), rs, metav1.CreateOptions{})
			return err
		},
		"StatefulSet": func() error {
			ss := &appsv1.StatefulSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.StatefulSetSpec{Selector: spec.Selector, Template: spec.Template}}
			_, err := c.AppsV1().StatefulSets("default").Create(t.Context(), ss, metav1.CreateOptions{})
			return err
		},
		"DaemonSet": func() error {
			ds := &appsv1.DaemonSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.DaemonSetSpec{Selector: spec.Selector, Template: spec.Template}}
			_, err := c.AppsV1().DaemonSets("default").Create(t.Context(), ds, metav1.CreateOptions{})
			return err
		},
		"Job": func() error {
			_, err := c.BatchV1().Jobs("default").Create(t.Context(), manual, metav1.CreateOptions{})
			return err
		},
	}
	for kind, try := range tries {
		err := try()
		if !errors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.template.metadata.labels: Invalid value: ") ||
			!strings.Contains(err.Error(), "`selector` does not match template `labels`") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestDaemonSetCountsItsTemplates(t *testing.T) {
	sets := client(t, start(t).Config()).AppsV1().DaemonSets("default")
	d := deployment("agent", 1)
	ds := &appsv1.DaemonSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.DaemonSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template}}
	ds, err := sets.Create(t.Context(), ds, metav1.CreateOptions{})
	check(t, err)
	counted := func(want string, generation int64) {
		t.Helper()
		if got := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; got != want || ds.Generation != generation {
			t.Errorf("template generation %s, generation %d", got, ds.Generation)
		}
	}
	counted("1", 1)
	ds.Spec.MinReadySeconds = 1
	ds, err = sets.Update(t.Context(), ds, metav1.UpdateOptions{})
	check(t, err)
	counted("1", 2)
	ds.Spec.Template.Spec.Containers[0].Image = "other"
	ds, err = sets.Update(t.Context(), ds, metav1.UpdateOptions{})
	check(t, err)
	counted("2", 3)
}

// Both versions of an autoscaler show the same object; v1 has the missing fields in annotations.
func TestAutoscalerInBothVersions(t *testing.T) {
	c := client(t, start(t).Config())
	old := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 3,
		TargetCPUUtilizationPercentage: new(int32(70))}}
	old, err := c.AutoscalingV1().HorizontalPodAutoscalers("default").Create(t.Context(), old, metav1.CreateOptions{})
	check(t, err)
	if old.Spec.MinReplicas == nil || *old.Spec.MinReplicas != 1 || *old.Spec.TargetCPUUtilizationPercentage != 70 {
		t.Errorf("created %+v", old.Spec)
	}
	hpas := c.AutoscalingV2().HorizontalPodAutoscalers("default")
	hpa, err := hpas.Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	if m := hpa.Spec.Metrics; len(m) != 1 || *m[0].Resource.Target.AverageUtilization != 70 {
		t.Fatalf("metrics %+v", m)
	}
	least := quantity.MustParse("5")
	hpa.Spec.Metrics = append(hpa.Spec.Metrics, autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "requests"}, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &least}}})
	_, err = hpas.Update(t.Context(), hpa, metav1.UpdateOptions{})
	check(t, err)
	old, err = c.AutoscalingV1().HorizontalPodAutoscalers("default").Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	const want = `[{"type":"Pods","pods":{"metricName":"requests","targetAverageValue":"5"}}]`
	if got := old.Annotations["autoscaling.alpha.kubernetes.io/metrics"]; got != want {
		t.Errorf("annotation %s", got)
	}
	old.Labels = map[string]string{"through": "v1"}
	_, err = c.AutoscalingV1().HorizontalPodAutoscalers("default").Update(t.Context(), old, metav1.UpdateOptions{})
	check(t, err)
	hpa, err = hpas.Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	if len(hpa.Spec.Metrics) != 2 || hpa.Labels["through"] != "v1" || len(hpa.Annotations) != 0 {
		t.Errorf("after an update through v1: %+v", hpa)
	}
	if kinds := hpa.ManagedFields; !slices.ContainsFunc(kinds, func(e metav1.ManagedFieldsEntry) bool { return e.APIVersion == "autoscaling/v1" }) {
		t.Errorf("owners %+v", kinds)
	}
}

func TestCronJobIsValidated(t *testing.T) {
	jobs := client(t, start(t).Config()).BatchV1().CronJobs("default")
	try := func(change func(*batchv1.CronJob)) error {
		cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}, Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: job("nightly").Spec}}}
		change(cron)
		_, err := jobs.Create(t.Context(), cron, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	check(t, try(func(*batchv1.CronJob) {}))
	for want, change := range map[string]func(*batchv1.CronJob){
		`spec.schedule: Invalid value: "often"`: func(c *batchv1.CronJob) { c.Spec.Schedule = "often" },
		"cannot use TZ or CRON_TZ in schedule":  func(c *batchv1.CronJob) { c.Spec.Schedule = "TZ=0" },
		"unknown time zone Mars/Olympus":        func(c *batchv1.CronJob) { c.Spec.TimeZone = new("Mars/Olympus") },
		"must be no more than 52 characters":    func(c *batchv1.CronJob) { c.Name = strings.Repeat("n", 53) },
		`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`: func(c *batchv1.CronJob) {
			c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = ""
		},
	} {
		if err := try(change); !errors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
