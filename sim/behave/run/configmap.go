package run

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// readConfig reads the data that the controller's ConfigMap has before the first case.
func (i *installation) readConfig(ctx context.Context) error {
	if i.configMap.Name == "" {
		return nil
	}
	api, err := kubernetes.NewForConfig(i.instance.API())
	if err != nil {
		return err
	}
	found, err := api.CoreV1().ConfigMaps(i.configMap.Namespace).Get(ctx, i.configMap.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the ConfigMap of the controller: %w", err)
	}
	i.base, i.config = found.Data, found.Data
	return nil
}

// oneWorker makes nginx run a single worker, so that a change that one connection has seen is seen
// by all.
var oneWorker = map[string]string{"worker-processes": "1"}

// Drivers on this machine restrict nginx to one address.
const (
	bindAddress = "bind-address"
	loopback    = "127.0.0.1"
	loopback6   = "::1"
)

// configure sets the data of the controller's ConfigMap: the keys before the first case, and these.
func (i *installation) configure(ctx context.Context, config map[string]string) error {
	if i.configMap.Name == "" {
		return nil
	}
	data := map[string]string{}
	if i.shared == nil {
		maps.Copy(data, oneWorker)
	}
	maps.Copy(data, i.base)
	if i.ipv6 && data[bindAddress] == loopback {
		data[bindAddress] = loopback + "," + loopback6
	}
	maps.Copy(data, config)
	if err := i.listenToSyslog(data); err != nil {
		return err
	}
	if maps.Equal(data, i.config) {
		return nil
	}
	i.config = data
	return i.put(ctx, i.sentinelIngress(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: i.configMap.Namespace, Name: i.configMap.Name}, Data: data})
}
