package kubeapi

import (
	"strings"
	"testing"
)

// kubectl asks for tokens, acts as others, reads health checks, and drains a node by evictions.
func TestKubectlAccess(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, startCluster(t))
	k.run("create", "serviceaccount", "builder")
	if token := k.run("create", "token", "builder", "--duration=15m"); strings.Count(token, ".") != 2 {
		t.Errorf("token %q", token)
	}
	if out := k.run("auth", "whoami", "--as=jane", "--as-group=developers", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}"); out != `jane ["developers","system:authenticated"]` {
		t.Errorf("acts as %s", out)
	}
	if out := k.run("get", "--raw=/readyz?verbose"); !strings.HasPrefix(out, "[+]ping ok\n") || !strings.HasSuffix(out, "readyz check passed\n") {
		t.Errorf("health:\n%s", out)
	}
	k.run("create", "deployment", "web", "--image=web")
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	k.run("create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=0")
	k.run("patch", "poddisruptionbudget", "web", "--subresource=status", "--type=merge",
		`-p={"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":1,"desiredHealthy":0,"expectedPods":1}}`)
	if out := k.run("drain", "windtunnel", "--timeout=60s"); !strings.Contains(out, "evicting pod default/web-") || !strings.Contains(out, "node/windtunnel drained") {
		t.Errorf("drain:\n%s", out)
	}
	k.run("expose", "deployment", "web", "--port=80", "--type=NodePort")
	if out := k.run("get", "service", "web", "-o", "jsonpath={.spec.ports[0].nodePort}"); !strings.HasPrefix(out, "3") || len(out) != 5 {
		t.Errorf("node port %q", out)
	}
}
