package kubeapi

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"windtunnel.dev/internal/golden"
)

// A user manages the other workloads with kubectl, and waits for each as scripts do.
func TestKubectlWorkloads(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, startCluster(t))
	file := filepath.Join(t.TempDir(), "workloads.yaml")
	if err := os.WriteFile(file, []byte(workloadsManifest), 0o644); err != nil {
		t.Fatal(err)
	}
	k.run("apply", "-f", file)
	out := k.transcript(
		"rollout status statefulset/db --timeout=60s",
		"rollout status daemonset/agent --timeout=60s",
		"wait --for=condition=complete job/report --timeout=60s",
		"wait --for=condition=failed job/broken --timeout=60s",
		"wait --for=jsonpath={.status.disruptionsAllowed}=1 pdb/db --timeout=60s",
		"get statefulset,daemonset,job,cronjob,pdb",
		"get pods -l app=db -o custom-columns=NAME:.metadata.name,HOST:.spec.hostname,PHASE:.status.phase",
		"get pvc -o name",
		"set image statefulset/db db=db:2",
		"rollout status statefulset/db --timeout=60s",
		"rollout history statefulset/db",
		"rollout undo statefulset/db",
		"rollout status statefulset/db --timeout=60s",
		"get statefulset db -o jsonpath={.spec.template.spec.containers[0].image}",
		"set image daemonset/agent agent=agent:2",
		"rollout status daemonset/agent --timeout=60s",
		"rollout undo daemonset/agent",
		"rollout status daemonset/agent --timeout=60s",
		"scale statefulset/db --replicas=1",
		"rollout status statefulset/db --timeout=60s",
		"create job by-hand --from=cronjob/nightly",
		"wait --for=condition=complete job/by-hand --timeout=60s",
		"get endpoints db -o jsonpath={.subsets[*].ports[*].port}",
		"get serviceaccount default -o name",
		"get configmap kube-root-ca.crt -o name",
		"get lease -n kube-node-lease -o name",
		"delete job report by-hand",
		"delete statefulset db",
		"wait --for=delete pod/db-0 --timeout=60s",
	)
	out = regexp.MustCompile(`(?m)^(Waiting for|waiting for|Warning: v1 Endpoints|partitioned roll out complete|statefulset rolling update complete).*\n`).ReplaceAll(out, nil) // their number varies
	golden.Check(t, "testdata/workloads.txtar", out)

	for command, want := range map[string][]string{
		"describe job broken": {"Pods Statuses:", "1 Failed", "BackoffLimitExceeded"},
		"describe hpa db":     {"AbleToScale", "FailedGetResourceMetric"},
		"describe daemonset":  {"Number of Nodes Scheduled with Up-to-date Pods: 1", "SuccessfulCreate"},
		"describe cronjob":    {"Schedule:", "Last Schedule Time:  <unset>"},
		"get events -o wide":  {"Job completed", "Created pod: db-0"},
		"get cronjob nightly -o jsonpath={.status.lastSuccessfulTime}": {"T"},
	} {
		printed := k.run(strings.Fields(command)...)
		for _, text := range want {
			if !strings.Contains(printed, text) {
				t.Errorf("the output of kubectl %s lacks %q:\n%s", command, text, printed)
			}
		}
	}
}

const workloadsManifest = `
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, clusterIP: None, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: db}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: db}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "agent:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  completions: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: report, image: "report:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: broken}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {windtunnel.dev/exit-code: "1"}}
    spec: {restartPolicy: Never, containers: [{name: broken, image: "broken:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 1 1 *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: nightly, image: "nightly:1"}]}
`
