package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/agent"
	"windtunnel.dev/sim/driver/incluster"
)

// trafficName is the name of the Job of traffic pods.
const trafficName = "traffic"

// trafficPatience is the time limit for the traffic pods to run.
const trafficPatience = 2 * time.Minute

// startTraffic creates the Job of traffic pods, and waits until all of them answer.
func (i *instance) startTraffic(ctx context.Context) error {
	n := i.driver.Traffic
	if n == 0 {
		return nil
	}
	if err := i.write(ctx, i.trafficJob(int32(n))); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, trafficPatience, fmt.Errorf("timed out after %v", trafficPatience))
	defer cancel()
	var peers []*agent.Peer
	err := poll(ctx, func() (bool, error) {
		pods, err := i.trafficPods(ctx)
		if err != nil || len(pods) < n {
			return false, err
		}
		peers = peers[:0]
		for _, pod := range pods {
			peer := i.peer(pod.Name, pod.Spec.NodeName)
			if peer.MeasureClock(ctx) != nil {
				return false, nil //nolint:nilerr // its agent does not listen yet
			}
			peers = append(peers, peer)
		}
		return true, nil
	})
	if err != nil {
		why := i.stuck(context.WithoutCancel(ctx), batchv1.JobNameLabel+"="+trafficName)
		return fmt.Errorf("wait for the %d traffic pods: %w %s", n, err, why)
	}
	i.traffic = agent.NewTraffic(peers, i.options.Log, i.subject.Name)
	return nil
}

// trafficPods returns the running traffic pods in the order of their indexes.
func (i *instance) trafficPods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := i.driver.client.CoreV1().Pods(i.home.name()).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + trafficName})
	if err != nil {
		return nil, err
	}
	var running []corev1.Pod
	for _, pod := range list.Items {
		switch why := whyNotRunning(pod); {
		case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
			return nil, fmt.Errorf("pod %s: %s", pod.Name, why)
		case pod.Status.Phase == corev1.PodRunning:
			running = append(running, pod)
		}
	}
	slices.SortFunc(running, func(a, b corev1.Pod) int { return indexOf(a) - indexOf(b) })
	return running, nil
}

// indexOf returns the completion index of a pod of an Indexed Job.
func indexOf(pod corev1.Pod) int {
	index, _ := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation]) // the Job controller sets it
	return index
}

// trafficJob returns an Indexed Job of n traffic pods, spread over the nodes and away from the
// controller. A pod that fails is not replaced: its share of the requests is lost, and the run is void.
func (i *instance) trafficJob(n int32) *batchv1.Job {
	about := metav1.ObjectMeta{Namespace: i.home.name(), Name: trafficName, Labels: map[string]string{"app.kubernetes.io/name": "windtunnel-traffic"}}
	selected := &metav1.LabelSelector{MatchLabels: about.Labels}
	_, controller, _ := strings.Cut(incluster.Selector, "=")
	return &batchv1.Job{
		ObjectMeta: about,
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: &n, Parallelism: &n, BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: about.Labels, Annotations: i.driver.annotations},
				Spec: corev1.PodSpec{
					RestartPolicy:                 corev1.RestartPolicyNever,
					AutomountServiceAccountToken:  new(false),
					EnableServiceLinks:            new(false),
					TerminationGracePeriodSeconds: new(int64(1)),
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
						MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selected,
					}},
					Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
						Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
							TopologyKey:   corev1.LabelHostname,
							LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": controller}},
						},
					}}}},
					Containers: []corev1.Container{i.agentContainer(trafficName, "100m", "128Mi")},
				},
			},
		},
	}
}

// peer returns the peer of the agent in a pod.
func (i *instance) peer(pod, node string) *agent.Peer {
	client, url, err := i.proxy(pod, agent.Port)
	if err != nil {
		client, url = &http.Client{}, "" // the configuration is valid: client-go has used it
	}
	return agent.NewPeer(agent.At{
		Pod: pod, Node: node, URL: url, Client: client, Token: i.token,
		Gone: func(ctx context.Context) error { return i.gone(ctx, pod) },
	}, i.options.Log)
}

// gone returns why a pod no longer runs, nil if it does or that is not known.
func (i *instance) gone(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	pod, err := i.driver.client.CoreV1().Pods(i.home.name()).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return errors.New("the pod was deleted")
	case err != nil:
		return nil //nolint:nilerr // the caller has the error that matters
	}
	if why := whyNotRunning(*pod); why != "" {
		return errors.New(why)
	}
	return nil
}

// proxy returns a client and the URL of a port of a pod, through the API server.
func (i *instance) proxy(pod string, port int) (*http.Client, string, error) {
	host, _, err := rest.DefaultServerUrlFor(i.driver.API)
	if err != nil {
		return nil, "", err
	}
	client, err := rest.HTTPClientFor(i.driver.API)
	return client, fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s:%d/proxy", strings.TrimSuffix(host.String(), "/"), url.PathEscape(i.home.name()), url.PathEscape(pod), port), err
}
