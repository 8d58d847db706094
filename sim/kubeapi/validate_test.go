package kubeapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	ingPath    = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
	classPath  = "/apis/networking.k8s.io/v1/ingressclasses"
	slicePath  = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	svcPath    = "/api/v1/namespaces/default/services"
	secretPath = "/api/v1/namespaces/default/secrets"
)

// ingressWith returns an ingress whose only path is p.
func ingressWith(p string) string {
	return `{"metadata":{"name":"x"},"spec":{"rules":[{"http":{"paths":[` + p + `]}}]}}`
}

// causes returns the reasons of a refusal: field, type of problem, and its message without the
// value.
func causes(status *unstructured.Unstructured) []string {
	var all []string
	list, _, _ := unstructured.NestedSlice(status.Object, "details", "causes")
	for _, c := range list {
		cause := c.(map[string]any)
		message := fmt.Sprint(cause["message"])
		if i := strings.LastIndex(message, ": "); i >= 0 {
			message = message[i+2:]
		}
		all = append(all, fmt.Sprintf("%v %v %s", cause["field"], cause["reason"], message))
	}
	return all
}

const backend = `"backend":{"service":{"name":"web","port":{"number":80}}}`

// Objects that must be refused on create, and the first cause in the answer.
func TestValidation(t *testing.T) {
	s, err := Start(Options{HTTP: "127.0.0.1:0", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(t.Context()) })
	many := strings.TrimSuffix(strings.Repeat(`{"addresses":["10.0.0.1"]},`, 1001), ",")
	endpoint := func(kind, e string) string {
		return `{"metadata":{"name":"x"},"addressType":"` + kind + `","endpoints":[` + e + `]}`
	}
	service := func(spec string) string { return `{"metadata":{"name":"x"},"spec":{` + spec + `}}` }
	for _, test := range []struct{ path, body, want string }{
		{ingPath, `{"metadata":{"name":"x"},"spec":{}}`, "spec FieldValueInvalid either `defaultBackend` or `rules` must be specified"},
		{ingPath, `{"metadata":{"name":"x"},"spec":{"rules":[{"http":{"paths":[]}}]}}`, "spec.rules[0].http.paths FieldValueRequired Required value"},
		{ingPath, ingressWith(`{"path":"/","pathType":"Regex",` + backend + `}`), `spec.rules[0].http.paths[0].pathType FieldValueNotSupported "Exact", "ImplementationSpecific", "Prefix"`},
		{ingPath, ingressWith(`{"path":"x","pathType":"Exact",` + backend + `}`), "spec.rules[0].http.paths[0].path FieldValueInvalid must be an absolute path"},
		{ingPath, ingressWith(`{"path":"/a//b","pathType":"Prefix",` + backend + `}`), "spec.rules[0].http.paths[0].path FieldValueInvalid must not contain '//'"},
		{ingPath, ingressWith(`{"path":"/a/..","pathType":"Prefix",` + backend + `}`), "spec.rules[0].http.paths[0].path FieldValueInvalid cannot end with '/..'"},
		{ingPath, ingressWith(`{"path":"/","pathType":"Exact","backend":{}}`), "spec.rules[0].http.paths[0].backend FieldValueInvalid resource or service backend is required"},
		{ingPath, ingressWith(`{"path":"/","pathType":"Exact","backend":{"service":{"name":"Web","port":{"number":80}}}}`), "spec.rules[0].http.paths[0].backend.service.name FieldValueInvalid "},
		{ingPath, ingressWith(`{"path":"/","pathType":"Exact","backend":{"service":{"name":"web","port":{}}}}`), "spec.rules[0].http.paths[0].backend FieldValueRequired port name or number is required"},
		{ingPath, ingressWith(`{"path":"/","pathType":"Exact","backend":{"service":{"name":"web","port":{"name":"a","number":1}}}}`), "spec.rules[0].http.paths[0].backend FieldValueInvalid cannot set both port name & port number"},
		{ingPath, ingressWith(`{"path":"/","pathType":"Exact","backend":{"service":{"name":"web","port":{"number":1}},"resource":{"kind":"A","name":"b"}}}`), "spec.rules[0].http.paths[0].backend FieldValueInvalid cannot set both resource and service backends"},
		{ingPath, ingressWith(`{"path":"/","pathType":"Exact","backend":{"resource":{"kind":"","name":"b"}}}`), "spec.rules[0].http.paths[0].backend.resource.kind FieldValueRequired Required value"},
		{ingPath, `{"metadata":{"name":"x"},"spec":{"rules":[{"host":"10.0.0.1"}]}}`, "spec.rules[0].host FieldValueInvalid must be a DNS name, not an IP address"},
		{ingPath, `{"metadata":{"name":"x"},"spec":{"rules":[{"host":"a.*.b"}]}}`, "spec.rules[0].host FieldValueInvalid "},
		{ingPath, `{"metadata":{"name":"x"},"spec":{"rules":[{"host":"Up.example"}]}}`, "spec.rules[0].host FieldValueInvalid "},
		{ingPath, `{"metadata":{"name":"x"},"spec":{"rules":[{"host":"a.b"}],"tls":[{"hosts":["_"]}]}}`, "spec.tls[0].hosts[0] FieldValueInvalid "},
		{ingPath, `{"metadata":{"name":"x"},"spec":{"rules":[{"host":"a.b"}],"tls":[{"secretName":"A_"}]}}`, "spec.tls[0].secretName FieldValueInvalid "},
		{ingPath, `{"metadata":{"name":"x","annotations":{"kubernetes.io/ingress.class":"a"}},"spec":{"ingressClassName":"b","rules":[{"host":"a.b"}]}}`,
			"annotations.kubernetes.io/ingress.class FieldValueInvalid must match `ingressClassName` when both are specified"},
		{classPath, `{"metadata":{"name":"x"},"spec":{"controller":"nginx"}}`, "spec.controller FieldValueInvalid "},

		{svcPath, service(``), "spec.ports FieldValueRequired Required value"},
		{svcPath, service(`"type":"Internal","ports":[{"port":1}]`), "spec.type FieldValueNotSupported "},
		{svcPath, service(`"ports":[{"port":0}]`), "spec.ports[0].port FieldValueInvalid "},
		{svcPath, service(`"ports":[{"port":1},{"port":2}]`), "spec.ports[0].name FieldValueRequired Required value"},
		{svcPath, service(`"ports":[{"name":"a","port":1},{"name":"a","port":2}]`), "spec.ports[1].name FieldValueDuplicate "},
		{svcPath, service(`"ports":[{"name":"a","port":1},{"name":"b","port":1}]`), "spec.ports[1] FieldValueDuplicate "},
		{svcPath, service(`"ports":[{"port":1,"protocol":"ICMP"}]`), `spec.ports[0].protocol FieldValueNotSupported "SCTP", "TCP", "UDP"`},
		{svcPath, service(`"ports":[{"port":1,"targetPort":"UPPER"}]`), "spec.ports[0].targetPort FieldValueInvalid "},
		{svcPath, service(`"ports":[{"port":1,"nodePort":30000}]`), "spec.ports[0].nodePort FieldValueForbidden may not be used when `type` is 'ClusterIP'"},
		{svcPath, service(`"clusterIP":"x","ports":[{"port":1}]`), "spec.clusterIPs[0] FieldValueInvalid "},
		{svcPath, service(`"type":"NodePort","clusterIP":"None","ports":[{"port":1}]`), "spec.clusterIPs[0] FieldValueInvalid may not be set to 'None' for NodePort services"},
		{svcPath, service(`"type":"ExternalName"`), "spec.externalName FieldValueRequired Required value"},
		{svcPath, service(`"type":"ExternalName","externalName":"a b"`), "spec.externalName FieldValueInvalid "},
		{svcPath, service(`"type":"ExternalName","externalName":"a.b","clusterIP":"10.0.0.1"`), "spec.clusterIPs FieldValueForbidden may not be set for ExternalName services"},
		{svcPath, service(`"sessionAffinity":"Cookie","ports":[{"port":1}]`), `spec.sessionAffinity FieldValueNotSupported "ClientIP", "None"`},
		{svcPath, service(`"externalTrafficPolicy":"Local","ports":[{"port":1}]`), "spec.externalTrafficPolicy FieldValueInvalid may only be set for externally-accessible services"},
		{svcPath, service(`"externalIPs":["127.0.0.1"],"ports":[{"port":1}]`), "spec.externalIPs[0] FieldValueInvalid may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{svcPath, service(`"loadBalancerClass":"a.b/c","ports":[{"port":1}]`), "spec.loadBalancerClass FieldValueForbidden may only be used when `type` is 'LoadBalancer'"},
		{svcPath, `{"metadata":{"name":"x.y"},"spec":{"ports":[{"port":1}]}}`, "metadata.name FieldValueInvalid "},

		{slicePath, `{"metadata":{"name":"x"},"endpoints":[]}`, "addressType FieldValueRequired Required value"},
		{slicePath, endpoint("MAC", ""), `addressType FieldValueNotSupported "FQDN", "IPv4", "IPv6"`},
		{slicePath, endpoint("IPv4", many), "endpoints FieldValueTooMany must have at most 1000 items"},
		{slicePath, endpoint("IPv4", `{"addresses":[]}`), "endpoints[0].addresses FieldValueRequired must contain at least 1 address"},
		{slicePath, endpoint("IPv4", `{"addresses":["10.0.0"]}`), "endpoints[0].addresses[0] FieldValueInvalid "},
		{slicePath, endpoint("IPv4", `{"addresses":["fd00::1"]}`), "endpoints[0].addresses FieldValueInvalid must be an IPv4 address"},
		{slicePath, endpoint("IPv6", `{"addresses":["10.0.0.1"]}`), "endpoints[0].addresses FieldValueInvalid must be an IPv6 address"},
		{slicePath, endpoint("FQDN", `{"addresses":["-"]}`), "endpoints[0].addresses[0] FieldValueInvalid "},
		{slicePath, endpoint("IPv4", `{"addresses":["0.0.0.0"]}`), "endpoints[0].addresses[0] FieldValueInvalid may not be unspecified (0.0.0.0)"},
		{slicePath, endpoint("IPv4", `{"addresses":["127.1.0.1"]}`), "endpoints[0].addresses[0] FieldValueInvalid may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{slicePath, endpoint("IPv4", `{"addresses":["169.254.0.1"]}`), "endpoints[0].addresses[0] FieldValueInvalid may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{slicePath, endpoint("IPv4", `{"addresses":["10.0.0.1"],"hostname":"A.b"}`), "endpoints[0].hostname FieldValueInvalid "},
		{slicePath, endpoint("IPv4", `{"addresses":["10.0.0.1"],"hints":{"forZones":[{"name":"a"},{"name":"a"}]}}`), `endpoints[0].hints.forZones[1].name FieldValueDuplicate `},
		{slicePath, `{"metadata":{"name":"x"},"addressType":"IPv4","ports":[{"port":1},{"port":2}]}`, "ports[1].name FieldValueDuplicate "},
		{slicePath, `{"metadata":{"name":"x"},"addressType":"IPv4","ports":[{"port":1,"protocol":"ICMP"}]}`, `ports[0].protocol FieldValueNotSupported "SCTP", "TCP", "UDP"`},

		{secretPath, `{"metadata":{"name":"x"},"type":"kubernetes.io/tls"}`, "data[tls.crt] FieldValueRequired Required value"},
		{secretPath, `{"metadata":{"name":"x"},"type":"kubernetes.io/basic-auth"}`, "data[username] FieldValueRequired Required value"},
		{secretPath, `{"metadata":{"name":"x"},"type":"kubernetes.io/ssh-auth"}`, "data[ssh-privatekey] FieldValueRequired Required value"},
		{secretPath, `{"metadata":{"name":"x"},"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"{"}}`, "data[.dockerconfigjson] FieldValueInvalid unexpected end of JSON input"},
		{secretPath, `{"metadata":{"name":"x"},"type":"kubernetes.io/service-account-token"}`, "metadata.annotations[kubernetes.io/service-account.name] FieldValueRequired Required value"},
		{secretPath, `{"metadata":{"name":"x"},"data":{"a/b":""}}`, "data[a/b] FieldValueInvalid "},
		{cmPath, `{"metadata":{"name":"x"},"data":{"a":""},"binaryData":{"a":""}}`, "data[a] FieldValueInvalid duplicate of key present in binaryData"},
		{cmPath, `{"metadata":{"name":"x","labels":{"a b":"c"}}}`, "metadata.labels FieldValueInvalid "},
		{cmPath, `{"metadata":{"name":"x","annotations":{"/":"c"}}}`, "metadata.annotations FieldValueInvalid "},
		{cmPath, `{"metadata":{"generateName":"A"}}`, "metadata.generateName FieldValueInvalid "},
		{cmPath, `{"metadata":{"name":"x","finalizers":["no slash"]}}`, "metadata.finalizers FieldValueInvalid "},
	} {
		code, status := wire{t, s.URL()}.do("POST", test.path, test.body)
		got := causes(status)
		if code != http.StatusUnprocessableEntity || len(got) == 0 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%s\n%.200s\n%d %q\nwant %q", test.path, test.body, code, got, test.want)
		}
	}
	if holds := s.Holds(); len(holds) != 1 {
		t.Errorf("holds %v", holds)
	}
}

// Valid objects, and the updates of them that must be refused.
func TestUpdateValidation(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	for _, test := range []struct{ path, first, then, want string }{
		{svcPath, `"spec":{"ports":[{"port":1}],"clusterIP":"10.96.0.9"}`, `"spec":{"ports":[{"port":1}],"clusterIP":"10.96.0.10"}`, "spec.clusterIPs[0] FieldValueInvalid may not change once set"},
		{svcPath, `"spec":{"type":"LoadBalancer","ports":[{"port":1}]}`, `"spec":{"type":"NodePort","ports":[{"port":1}]}`, ""},
		{svcPath, `"spec":{"ports":[{"port":1}]}`, `"spec":{"type":"ExternalName","externalName":"a.b"}`, ""},
		{svcPath, `"spec":{"ports":[{"port":1}],"sessionAffinity":"ClientIP"}`, `"spec":{"ports":[{"port":1}],"sessionAffinity":"None"}`, ""},
		{slicePath, `"addressType":"IPv4"`, `"addressType":"IPv6"`, "addressType FieldValueInvalid field is immutable"},
		{slicePath, `"addressType":"IPv4","endpoints":[{"addresses":["127.0.0.1"]}]`, `"addressType":"IPv4"`, ""},
		{slicePath, `"addressType":"IPv6","endpoints":[{"addresses":["fd00::1"],"nodeName":"n"}]`, `"addressType":"IPv6"`, ""},
		{slicePath, `"addressType":"FQDN","endpoints":[{"addresses":["a.example"]}]`, `"addressType":"FQDN"`, ""},
		{ingPath, `"spec":{"rules":[{"host":"*.a.b"}],"tls":[{"hosts":["*.a.b"]}]}`, `"spec":{"defaultBackend":{"resource":{"apiGroup":"a.b","kind":"K","name":"n"}}}`, ""},
		{classPath, `"spec":{"controller":"a.b/c"}`, `"spec":{"controller":"a.b/d"}`, "spec.controller FieldValueInvalid field is immutable"},
		{secretPath, `"type":"a"`, `"type":"b"`, "type FieldValueInvalid field is immutable"},
		{secretPath, `"immutable":true,"data":{"a":"YQ=="}`, `"immutable":true`, "data FieldValueForbidden field is immutable when `immutable` is set"},
		{secretPath, `"immutable":true`, `"data":{}`, "immutable FieldValueForbidden field is immutable when `immutable` is set"},
		{cmPath, `"immutable":true,"data":{"a":"b"}`, `"immutable":true,"data":{"a":"c"}`, "data FieldValueForbidden field is immutable when `immutable` is set"},
		{cmPath, `"immutable":true`, `"immutable":true,"binaryData":{"a":"YQ=="}`, "binaryData FieldValueForbidden field is immutable when `immutable` is set"},
	} {
		w.mustCreate(test.path, `{"metadata":{"name":"x"},`+test.first+`}`)
		code, status := w.do("PUT", test.path+"/x", `{"metadata":{"name":"x"},`+test.then+`}`)
		switch got := causes(status); {
		case test.want == "" && code != http.StatusOK:
			t.Errorf("%s: from %s to %s: %d %q", test.path, test.first, test.then, code, got)
		case test.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], test.want)):
			t.Errorf("%s: from %s to %s: %d %q, want %q", test.path, test.first, test.then, code, got, test.want)
		}
		w.do("DELETE", test.path+"/x", "")
	}
}

// The answers to unknown and duplicate fields.
func TestFieldValidation(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	for _, test := range []struct {
		method, kind, body string
		code               int // with fieldValidation=Strict
		want               string
	}{
		{"POST", "application/json", `{"metadata":{"generateName":"b"},"data":{"k":"1","k":"2"}}`, 400, `duplicate field "data.k"`},
		{"POST", "application/json", `{"metadata":{"generateName":"b"},"dada":1}`, 400, `unknown field "dada"`},
		{"POST", "application/yaml", "metadata: {generateName: b}\ndada: 1\n", 400, `unknown field "dada"`},
		{"PATCH", "application/merge-patch+json", `{"dada":1}`, 422, `unknown field "dada"`},
		{"PATCH", "application/merge-patch+json", `{"data":{"k":"1","k":"2"}}`, 422, `duplicate field "data.k"`},
		{"PATCH", "application/strategic-merge-patch+json", `{"dada":1}`, 422, `unknown field "dada"`},
		{"PATCH", "application/json-patch+json", `[{"op":"add","path":"/dada","value":1}]`, 422, `unknown field "dada"`},
		{"PATCH", "application/json-patch+json", `[{"op":"add","path":"/data","value":{"k":"v"},"valeu":1}]`, 422, `json patch unknown field "[0].valeu"`},
	} {
		path := cmPath
		if test.method == "PATCH" {
			path += "/a"
		}
		resp := w.send(test.method, path+"?fieldValidation=Strict", test.kind, test.body)
		if code, status := w.answer(resp); code != test.code || !strings.Contains(text(status, "message"), "strict decoding error: "+test.want) {
			t.Errorf("strict: %s: %d %q, want %d %q", test.body, code, text(status, "message"), test.code, test.want)
		}
		for query, warning := range map[string]string{"": test.want, "?fieldValidation=Warn": test.want, "?fieldValidation=Ignore": ""} {
			resp := w.send(test.method, path+query, test.kind, test.body)
			if got := strings.ReplaceAll(resp.Header.Get("Warning"), `\"`, `"`); resp.StatusCode >= 300 || (warning == "") != (got == "") || !strings.Contains(got, warning) {
				t.Errorf("%s: %s: %s, warning %q, want %q", query, test.body, resp.Status, got, warning)
			}
		}
	}
	if code, status := w.do("POST", cmPath+"?fieldValidation=Maybe", `{}`); code != 422 || text(status, "details", "kind") != "CreateOptions" {
		t.Errorf("got %d %v", code, status.Object)
	}
}
