package main

// kind describes a kind of objects for the generator: valid and invalid bodies without metadata in
// YAML, and patches in JSON.
type kind struct {
	api, resource, version, name string
	cluster                      bool
	bodies, wrong, patches       []string
	status                       string // a merge patch of the status; empty if the kind has no status
}

var kinds = []*kind{
	{api: "/api/v1", resource: "configmaps", version: "v1", name: "ConfigMap",
		bodies:  []string{"data: {a: x}", "data: {a: x, b: y}", "binaryData: {c: AAEC}", ""},
		wrong:   []string{"data: {a: 1}", `data: {"bad key!": x}`, "unknown: 1", "data: {a: x}\nbinaryData: {a: AAEC}", "immutable: maybe", "immutable: true\ndata: {z: z}"},
		patches: []string{`{"data":{"a":"z"}}`, `{"data":{"a":null}}`, `{"data":null}`, `{"data":7}`, `{"immutable":true}`}},
	{api: "/api/v1", resource: "secrets", version: "v1", name: "Secret",
		bodies:  []string{"stringData: {a: x}", "data: {a: eA==}", "type: kubernetes.io/tls\ndata: {tls.crt: eA==, tls.key: eA==}", "type: example.com/mine"},
		wrong:   []string{"type: kubernetes.io/tls", "data: {a: '%'}", "type: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: eA==}", `data: {"bad key!": eA==}`, "type: kubernetes.io/basic-auth"},
		patches: []string{`{"stringData":{"b":"y"}}`, `{"data":{"a":null}}`, `{"type":"other"}`}},
	{api: "/api/v1", resource: "services", version: "v1", name: "Service", status: `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`,
		bodies: []string{"spec: {ports: [{port: 80}]}", "spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}, {name: https, port: 443}]}",
			"spec: {clusterIP: None, selector: {app: web}}", "spec: {type: ExternalName, externalName: example.com}", "spec: {ports: [{port: 53, protocol: UDP}], sessionAffinity: ClientIP}"},
		wrong: []string{"spec: {}", "spec: {ports: [{port: 0}]}", "spec: {ports: [{port: 80}, {port: 81}]}", "spec: {type: ExternalName}", "spec: {type: Odd, ports: [{port: 80}]}",
			"spec: {ports: [{port: 80, protocol: ICMP}]}", "spec: {ports: [{name: a, port: 80}, {name: a, port: 81}]}", "spec: {clusterIP: 1.2.3.4.5, ports: [{port: 80}]}"},
		patches: []string{`{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`, `{"spec":{"selector":{"app":"db"}}}`, `{"spec":{"clusterIP":"10.97.1.1"}}`, `{"spec":{"sessionAffinity":"None"}}`}},
	{api: "/api/v1", resource: "pods", version: "v1", name: "Pod", status: `{"status":{"phase":"Running","podIP":"127.1.2.3"}}`,
		bodies:  []string{"spec: {containers: [{name: web, image: example.com/web:1}]}", "spec: {containers: [{name: web, image: web, ports: [{containerPort: 80}]}], restartPolicy: Never}"},
		wrong:   []string{"spec: {}", "spec: {containers: [{name: Web, image: web}]}", "spec: {containers: [{name: web}]}", "spec: {containers: [{name: web, image: web}], restartPolicy: Odd}", "spec: {containers: [{name: web, image: web}], unknown: 1}"},
		patches: []string{`{"spec":{"containers":[{"name":"web","image":"web:2"}]}}`, `{"spec":{"nodeName":"other"}}`}},
	{api: "/api/v1", resource: "namespaces", version: "v1", name: "Namespace", cluster: true,
		bodies: []string{"", "spec: {}"}, wrong: []string{"spec: {finalizers: [Odd]}", "unknown: 1"}, patches: []string{`{"metadata":{"labels":{"kubernetes.io/metadata.name":"x"}}}`}},
	{api: "/apis/coordination.k8s.io/v1", resource: "leases", version: "coordination.k8s.io/v1", name: "Lease",
		bodies:  []string{"spec: {holderIdentity: me, leaseDurationSeconds: 15}", `spec: {holderIdentity: me, renewTime: "2024-01-01T00:00:00.000001Z"}`, "spec: {}"},
		wrong:   []string{"spec: {leaseDurationSeconds: 0}", "spec: {leaseDurationSeconds: -1}", "spec: {leaseTransitions: -1}", "spec: {renewTime: yesterday}"},
		patches: []string{`{"spec":{"holderIdentity":"you"}}`, `{"spec":{"leaseDurationSeconds":0}}`}},
	{api: "/apis/discovery.k8s.io/v1", resource: "endpointslices", version: "discovery.k8s.io/v1", name: "EndpointSlice",
		bodies: []string{"addressType: IPv4\nendpoints: [{addresses: [10.1.2.3], conditions: {ready: true}}]\nports: [{name: http, port: 80}]",
			"addressType: IPv4\nendpoints: [{addresses: [10.1.2.3]}, {addresses: [10.1.2.4], hostname: a}]\nports: [{port: 80, protocol: UDP}]", "addressType: FQDN\nendpoints: [{addresses: [example.com]}]\nports: []", "addressType: IPv6\nendpoints: []"},
		wrong: []string{"endpoints: []", "addressType: Odd\nendpoints: []", "addressType: IPv4\nendpoints: [{addresses: []}]", "addressType: IPv4\nendpoints: [{addresses: [not-an-ip]}]", "addressType: IPv4\nendpoints: [{addresses: ['::1']}]",
			"addressType: IPv4\nendpoints: [{addresses: [10.1.2.3], hostname: Not_Valid}]", "addressType: IPv4\nendpoints: []\nports: [{name: BAD}]", "addressType: IPv4\nendpoints: []\nports: [{name: a, port: 1}, {name: a, port: 2}]", "addressType: IPv4\nendpoints: [{addresses: [127.0.0.1]}]"},
		patches: []string{`{"endpoints":[{"addresses":["10.9.9.9"]}]}`, `{"addressType":"IPv6"}`, `{"ports":null}`}},
	{api: "/apis/networking.k8s.io/v1", resource: "ingresses", version: "networking.k8s.io/v1", name: "Ingress", status: `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`,
		bodies: []string{"spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}",
			"spec: {ingressClassName: nginx, rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}}]}",
			"spec: {tls: [{hosts: [a.example], secretName: cert}], rules: [{host: '*.example.com', http: {paths: [{path: /x, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}}]}"},
		wrong: []string{"spec: {}", "spec: {rules: [{host: Bad_Host, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}",
			"spec: {rules: [{http: {paths: [{path: x, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}", "spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: web, port: {number: 80}}}}]}}]}",
			"spec: {rules: [{http: {paths: []}}]}", "spec: {rules: [{host: 10.0.0.1}]}", "spec: {defaultBackend: {service: {name: Web_, port: {number: 80}}}}", "spec: {defaultBackend: {service: {name: web, port: {number: 99999}}}}", "spec: {defaultBackend: {}}",
			"spec: {ingressClassName: Not_Valid, defaultBackend: {service: {name: web, port: {number: 80}}}}", "spec: {tls: [{hosts: [Bad_Host]}], defaultBackend: {service: {name: web, port: {number: 80}}}}"},
		patches: []string{`{"spec":{"ingressClassName":"other"}}`, `{"spec":{"rules":null}}`, `{"spec":{"defaultBackend":null}}`}},
}
