package simulated

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/definitions"
)

// The node of the controller's pod.
const (
	nodeName = "windtunnel"
	zone     = "here"
)

// loopback is the address at which the controller and its proxy are reached, and which they publish.
const loopback = "127.0.0.1"

// describeController creates the objects that the controller needs at its start: its namespace, the
// node of its pod, its service account, the ConfigMaps of TCP and UDP services, and the objects of its
// adapter.
func (i *Instance) describeController(ctx context.Context) error {
	objects, err := i.objects()
	if err == nil {
		err = i.put(ctx, objects)
	}
	if err != nil {
		return fmt.Errorf("create the objects of the controller of subject %s: %w", i.Subject.Name, err)
	}
	return nil
}

// define creates the custom kinds that the controller needs. Unlike its other objects, they are there
// before the population of a run, which may be of these kinds.
func (i *Instance) define(ctx context.Context) error {
	objects, err := definitions.Read(ctx, i.setup.CRDs)
	if err == nil {
		err = i.put(ctx, objects)
	}
	if err != nil {
		return fmt.Errorf("define the custom kinds of the adapter %s: %w", i.setup.Adapter, err)
	}
	return nil
}

func (i *Instance) objects() ([]*unstructured.Unstructured, error) {
	typed := []runtime.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: i.setup.Namespace}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelTopologyZone: zone}}},
	}
	if i.setup.HasAccount {
		typed = append(typed, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: i.setup.Namespace, Name: i.setup.ServiceAccount}})
	}
	if len(i.Options.Streams) > 0 {
		if i.setup.Streams == nil {
			return nil, fmt.Errorf("the adapter %s publishes no services over plain TCP and UDP", i.setup.Adapter)
		}
		for _, name := range []string{i.setup.Streams.TCP, i.setup.Streams.UDP} {
			namespace, name, _ := strings.Cut(name, "/")
			typed = append(typed, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: i.streamPorts()})
		}
	}
	if i.webhook != nil {
		typed = append(typed, i.webhook.Registration(fmt.Sprintf("https://%s%s", at(i.ports.Webhook), i.setup.Webhook)))
	}
	var all []*unstructured.Unstructured
	for _, one := range typed {
		object, err := cluster.Object(one)
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
	return append(all, i.setup.Objects...), nil
}

// put creates or replaces objects in their order: some are of kinds that others define.
func (i *Instance) put(ctx context.Context, objects []*unstructured.Unstructured) error {
	client, err := cluster.New(i.API())
	if err != nil {
		return err
	}
	for _, object := range objects {
		_, err := client.Put(ctx, object)
		if meta.IsNoMatchError(err) { // the kind may have been defined a moment ago
			if client, err = cluster.New(i.API()); err == nil {
				_, err = client.Put(ctx, object)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// streamPorts returns the data of the TCP and UDP ConfigMaps: the services of Options.Streams by
// port.
func (i *Instance) streamPorts() map[string]string {
	data := map[string]string{}
	for _, s := range i.Data().Streams {
		data[strconv.Itoa(s.Port)] = s.Service
	}
	return data
}

// Data returns the part of the adapter's data that is the same for all drivers. The driver adds Controller,
// Kubeconfig, Root and Help, which depend on where the controller runs.
func (i *Instance) Data() adapter.Data {
	data := adapter.Data{
		NodeName: nodeName, PublishAddress: loopback, Ports: i.ports, APIServer: i.apiServer(),
		Flags: i.Subject.Flags, Config: i.Subject.Config,
		Nginx: i.Subject.Nginx, Lua: i.Subject.Lua, Template: i.Subject.Template,
	}
	if i.webhook != nil {
		data.Webhook = adapter.Webhook{Certificate: string(i.webhook.Certificate), Key: string(i.webhook.Key)}
	}
	for n, at := range i.Streams() {
		data.Streams = append(data.Streams, adapter.Stream{Port: int(at.Port()), Service: i.Options.Streams[n]})
	}
	return data
}
