package behave

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/specfile"
)

var (
	protocols = []string{"http", "https", "grpc", "grpcs", "fastcgi", "silent", "udp"}
	breaks    = []string{"close", "reset"}
	keys      = []string{"ecdsa", "rsa"}
)

// secure reports whether pods with this protocol speak TLS.
func secure(protocol string) bool { return protocol == "https" || protocol == "grpcs" }

func (c *checker) pods() {
	for _, name := range sorted(c.Pods) {
		path := []any{"spec", "pods", name}
		pods := c.Pods[name]
		c.label("service", name, path...)
		if name == None {
			c.Problem("a service named none, which expectations use for no service", "give it another name", path...)
		}
		if pods.Replicas != nil && *pods.Replicas < 0 {
			c.Problem(fmt.Sprintf("%d replicas", *pods.Replicas), "make it 0 or more", below(path, "replicas")...)
		}
		for i, zone := range pods.Zones {
			c.label("zone", zone, below(path, "zones", i)...)
		}
		c.oneOf(pods.Protocol, "protocol", protocols, below(path, "protocol")...)
		named := map[string]string{"certificate": pods.Certificate, "client-ca": pods.ClientCA}
		for _, key := range sorted(named) {
			name := named[key]
			if name == "" {
				continue
			}
			if !secure(pods.Protocol) {
				c.Problem(key+": belongs to pods with protocol https or grpcs", "set the protocol, or remove it", below(path, key)...)
			}
			c.certificateNamed(name, key == "client-ca", below(path, key)...)
		}
		c.answer(pods.Answer, path)
		c.rules(pods.Rules, below(path, "rules"))
	}
}

func (c *checker) answer(a Answer, path []any) {
	if a.Status != 0 {
		c.status(a.Status, below(path, "status")...)
	}
	c.headerNames(sorted(a.Headers), below(path, "headers")...)
	if a.Body != nil && a.Bytes != 0 {
		c.Problem("both body: and bytes:", "keep one of the two", below(path, "bytes")...)
	}
	if a.Bytes < 0 {
		c.Problem(fmt.Sprintf("%d bytes", a.Bytes), "make it 1 or more", below(path, "bytes")...)
	}
	c.notNegative(a.After, below(path, "after")...)
	c.oneOf(a.Break, "break", breaks, below(path, "break")...)
	if a.Break != "" && (a.Status != 0 || a.Headers != nil || a.Body != nil || a.Bytes != 0) {
		c.Problem("break: a pod that breaks the connection sends no answer", "remove status, headers, body and bytes, or break", below(path, "break")...)
	}
}

// rules checks that each rule can apply: the first rule that matches hides those after it.
func (c *checker) rules(rules []Rule, path []any) {
	all := func(r Rule) bool { return r.Path == "" && r.Method == "" && r.First == 0 }
	for i, rule := range rules {
		at := below(path, i)
		c.answer(rule.Answer, at)
		if rule.Path != "" && !strings.HasPrefix(rule.Path, "/") {
			c.Problem(fmt.Sprintf("%q is not a path", rule.Path), "begin it with /", below(at, "path")...)
		}
		if rule.First < 0 {
			c.Problem(fmt.Sprintf("first: %d", rule.First), "make it 1 or more", below(at, "first")...)
		}
		if all(rule) {
			c.Problem("a rule for all requests", "add path:, method: or first:, or write its answer at the pods", at...)
		}
		if rule.Method != strings.ToUpper(rule.Method) {
			c.Problem("method "+rule.Method+" has lower-case letters", "write "+strings.ToUpper(rule.Method), below(at, "method")...)
		}
		hidden := slices.IndexFunc(rules[:i], func(before Rule) bool {
			return !all(before) && before.First == 0 && strings.HasPrefix(rule.Path, before.Path) && (before.Method == "" || before.Method == rule.Method)
		})
		if hidden >= 0 {
			c.Problem(fmt.Sprintf("a rule that never applies, because the one at line %d matches first", c.At.Line(below(path, hidden)...)), "move it before that one", at...)
		}
	}
}

func (c *checker) certificates() {
	for _, name := range sorted(c.Certificates) {
		path := []any{"spec", "certificates", name}
		certificate := c.Certificates[name]
		c.label("Secret", name, path...)
		if name == Default {
			c.Problem("a certificate named default, which expectations use for the controller's own", "give it another name", path...)
		}
		c.oneOf(certificate.Key, "type of key", keys, below(path, "key")...)
		if certificate.Namespace != "" && certificate.Namespace != NoSecret {
			c.label("namespace", certificate.Namespace, below(path, "namespace")...)
		}
		if len(certificate.Revokes) > 0 && !certificate.Authority {
			c.Problem("revokes: of a certificate that is not an authority", "add authority: true, or remove revokes", below(path, "revokes")...)
		}
		for i, revoked := range certificate.Revokes {
			if c.certificateNamed(revoked, false, below(path, "revokes", i)...) && c.Certificates[revoked].SignedBy != name {
				c.Problem(fmt.Sprintf("revokes: %s is not signed by %s", revoked, name), "add signed-by: "+name+" to it", below(path, "revokes", i)...)
			}
		}
		if certificate.CAIssuers && certificate.SignedBy == "" {
			c.Problem("ca-issuers: of a certificate that no authority of the case signs", "add signed-by, or remove ca-issuers", below(path, "ca-issuers")...)
		}
		if certificate.OCSP && certificate.SignedBy == "" {
			c.Problem("ocsp: of a certificate that no authority of the case signs", "add signed-by, or remove ocsp", below(path, "ocsp")...)
		}
		if certificate.SignedBy != "" && c.certificateNamed(certificate.SignedBy, true, below(path, "signed-by")...) && c.signsItself(name) {
			c.Problem(fmt.Sprintf("signed-by: %s is signed by itself in the end", name), "remove signed-by from one of these authorities", below(path, "signed-by")...)
		}
	}
}

func (c *checker) signsItself(name string) bool {
	by := c.Certificates[name].SignedBy
	for range c.Certificates {
		if by == name {
			return true
		}
		by = c.Certificates[by].SignedBy
	}
	return false
}

// certificateNamed checks that the case has a certificate, and that it is an authority if it must
// be one.
func (c *checker) certificateNamed(name string, authority bool, path ...any) bool {
	certificate, ok := c.Certificates[name]
	switch {
	case !ok:
		c.Problem(fmt.Sprintf("%v: no certificate %s", path[len(path)-1], name), specfile.Choose(name, "certificates", sorted(c.Certificates)), path...)
	case authority && !certificate.Authority:
		ok = false
		c.Problem(fmt.Sprintf("%v: certificate %s is not an authority", path[len(path)-1], name), "add authority: true to it", path...)
	}
	return ok
}

// service checks that the case has pods of a service.
func (c *checker) service(name string, path ...any) bool {
	_, ok := c.Pods[name]
	if !ok {
		c.Problem(fmt.Sprintf("no service %s in pods", name), specfile.Choose(name, "services", sorted(c.Pods)), path...)
	}
	return ok
}
