package watch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// oldest is the first Kubernetes version with Ingresses of networking.k8s.io/v1.
var oldest = version.MustParseGeneric("1.19.0")

// patience is ingress-nginx's backoff for an API server that does not answer at start: ten attempts
// over about two minutes.
var patience = wait.Backoff{Steps: 10, Duration: time.Second, Factor: 1.5, Jitter: 0.1}

// AwaitServer returns when the API server answers and is new enough.
func AwaitServer(ctx context.Context, client kubernetes.Interface, log *slog.Logger) error {
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, patience, func(context.Context) (bool, error) {
		info, err := client.Discovery().ServerVersion()
		if last = err; err != nil {
			log.Warn("the API server does not answer; trying again", "error", err.Error())
			return false, nil
		}
		is, err := version.ParseGeneric(info.GitVersion)
		if err != nil {
			return false, fmt.Errorf("the API server's version %q: %w", info.GitVersion, err)
		}
		if is.LessThan(oldest) {
			return false, fmt.Errorf("the API server is Kubernetes %s: %s or newer is needed", is, oldest)
		}
		return true, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("the API server does not answer: %w", last)
	}
	return err
}

// CheckService returns an error if the Service that a flag names does not exist. It accepts an
// empty name.
func CheckService(ctx context.Context, client kubernetes.Interface, flag string, name types.NamespacedName) error {
	if name.Name == "" {
		return nil
	}
	if _, err := client.CoreV1().Services(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{}); err != nil {
		return fmt.Errorf("--%s %s: %w", flag, name, err)
	}
	return nil
}

// CheckOptions reads the objects that the options name, so a wrong name is an error at start. It
// also determines whether IngressClasses may be read. It returns the options to use and the
// controller's own pod.
func CheckOptions(ctx context.Context, client kubernetes.Interface, options Options, pod, defaultBackend types.NamespacedName, log *slog.Logger) (Options, *corev1.Pod, error) {
	if err := CheckService(ctx, client, "default-backend-service", defaultBackend); err != nil {
		return options, nil, err
	}
	if name := options.Namespace; name != "" {
		if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return options, nil, fmt.Errorf("--watch-namespace %s: %w", name, err)
		}
	}
	_, err := client.NetworkingV1().IngressClasses().List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		options.IgnoreClasses = true
	} else if err != nil { // as in ingress-nginx, not fatal: the informer tries again
		log.Warn("listing IngressClasses failed", "error", err.Error())
	}
	own, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return options, nil, fmt.Errorf("the controller's own pod %s, named by $POD_NAMESPACE and $POD_NAME: %w", pod, err)
	}
	return options, own, nil
}
