package run

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/corpus"
)

// podPort is the port of pods behind services without a numeric targetPort.
const podPort = 8080

// service is a service of a case with its pods.
type service struct {
	namespace, name string
	script          backend.Script
	zones           []string // of its pods, in turn
	ports           []discoveryv1.EndpointPort
	pods            []backend.Pod
}

func (s *service) key() string { return s.namespace + "/" + s.name }

// serve starts the pods of a service, and creates the service unless it has a manifest.
func (s *stay) serve(ctx context.Context, name string, pods behave.Pods) error {
	script, err := s.script(pods)
	if err != nil {
		return err
	}
	object := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(podPort)}}},
	}
	manifest := slices.IndexFunc(s.Manifests, func(m behave.Manifest) bool {
		return m.Object.GetKind() == "Service" && m.Object.GetName() == name && !m.Named
	})
	if manifest >= 0 {
		object = &corev1.Service{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.Manifests[manifest].Object.Object, object); err != nil {
			return err
		}
		object.Namespace = cmp.Or(object.Namespace, s.namespace)
	} else if err := s.write(ctx, object); err != nil {
		return err
	}
	made := &service{namespace: object.Namespace, name: name, script: script, zones: pods.Zones}
	for _, port := range object.Spec.Ports {
		number := int(cmp.Or(port.TargetPort.IntVal, podPort))
		if number != podPort && !slices.Contains(made.script.Ports, number) {
			made.script.Ports = append(made.script.Ports, number)
		}
		made.ports = append(made.ports, discoveryv1.EndpointPort{Name: new(port.Name), Port: new(int32(number)), Protocol: new(cmp.Or(port.Protocol, corev1.ProtocolTCP))})
	}
	s.services[name] = made
	replicas := 1
	if pods.Replicas != nil {
		replicas = *pods.Replicas
	}
	return s.scale(ctx, made, replicas)
}

// script translates the pods of a case to a script of the backend.
func (s *stay) script(pods behave.Pods) (backend.Script, error) {
	script := backend.Script{Protocol: backend.Protocol(pods.Protocol), Answer: answer(pods.Answer)}
	for _, rule := range pods.Rules {
		script.Rules = append(script.Rules, backend.Rule{Path: rule.Path, Method: rule.Method, First: rule.First, Answer: answer(rule.Answer)})
	}
	if pods.Certificate != "" {
		_, key, err := s.certificates[pods.Certificate].pems()
		if err != nil {
			return script, err
		}
		script.Certificate, script.Key = string(s.certificates[pods.Certificate].chain()), string(key)
	}
	if pods.ClientCA != "" {
		authority, _, err := s.certificates[pods.ClientCA].pems()
		if err != nil {
			return script, err
		}
		script.ClientCA = string(authority)
	}
	return script, nil
}

func answer(a behave.Answer) backend.Answer {
	if a.Status == http.StatusOK {
		a.Status = 0 // the default, which does not replace the answers of gRPC and of WebSockets
	}
	translated := backend.Answer{Status: a.Status, Bytes: a.Bytes, After: a.After, Break: backend.Break(a.Break)}
	if a.Body != nil {
		translated.Body = []byte(*a.Body)
	}
	if len(a.Headers) > 0 {
		translated.Headers = map[string][]string{}
		for name, values := range a.Headers {
			translated.Headers[name] = values
		}
	}
	return translated
}

// scale sets the number of pods of a service. It ends the newest pods first.
func (s *stay) scale(ctx context.Context, of *service, replicas int) error {
	var gone []backend.Pod
	for len(of.pods) > replicas {
		last := len(of.pods) - 1
		gone, of.pods = append(gone, of.pods[last]), of.pods[:last]
	}
	for len(of.pods) < replicas {
		s.in.started[of.key()]++ // pods of an earlier stay may still be ending, so their names are taken
		pod, err := s.fleet.StartScripted(fmt.Sprintf("%s-%d", of.key(), s.in.started[of.key()]), of.key(), of.script)
		if err != nil {
			return err
		}
		if err := pod.Ready(); err != nil {
			return err
		}
		of.pods = append(of.pods, pod)
	}
	slice := endpoints(of.namespace, of.name, of.ports, of.pods...)
	for i := range slice.Endpoints {
		if len(of.zones) > 0 {
			slice.Endpoints[i].Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: of.zones[i%len(of.zones)]}}}
		}
	}
	if err := s.write(ctx, slice); err != nil {
		return err
	}
	for _, pod := range gone {
		pod.Terminate(0)
	}
	return nil
}

// endpoints returns the EndpointSlice of a service with these pods.
func endpoints(namespace, service string, ports []discoveryv1.EndpointPort, pods ...backend.Pod) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: service,
			Labels: map[string]string{discoveryv1.LabelServiceName: service, discoveryv1.LabelManagedBy: corpus.ManagedBy},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{},
		Ports:       ports,
	}
	for _, pod := range pods {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{pod.Addr().Addr().String()},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true), Serving: new(true)},
		})
	}
	return slice
}
