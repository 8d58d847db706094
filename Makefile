# `make help` lists the targets. Start with demo, check and test.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
GO ?= go
SCENARIO ?= scenarios/endpoints/reload-vs-dynamic.yaml
DRIVER ?= local
LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Record the commit in the binaries even where GOFLAGS has -buildvcs=false, but not where git
# cannot read the checkout: go build would fail there.
BUILDVCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
# Go finds a repository by its folder .git, which is a file in a git worktree.
STAMP := $(if $(wildcard .git/.),,-ldflags=-X=windtunnel.dev/internal/version.commit=$(shell git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null))

# Exported, so that `make e2e KIND_IMAGE=…` reaches hack/e2e.
export KIND_IMAGE E2E_LABELS DRIVERS SCENARIOS

.PHONY: help demo results subjects migrate case-matrix check test e2e drivers build setup bench bench-controller bench-kubeapi profile-kubeapi soak-kubeapi bench-load bench-lua image lint fuzz attack golden oracle oracle-bench oracle-test mutations clean bench-compare bench-pods bench-watch nginx-memory predict studies history cluster-traffic

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: setup build ## measure what an endpoint change costs, with and without a reload (or run SCENARIO on DRIVER)
	bin/windtunnel run --driver $(DRIVER) $(SCENARIO)

results: setup build ## run the demo (or SCENARIO on DRIVER) and save its results under docs/results
	hack/results $(SCENARIO) $(DRIVER)

subjects: setup build ## run five scenarios with all controllers that run here, results in docs/results/subjects
	hack/subjects

studies: setup build ## run the studies, results in docs/results/studies
	@for study in studies/*.yaml; do hack/studies $$(basename $$study .yaml) || exit; done
	hack/studies limits

migrate: setup build ## compare Traefik with ingress-nginx for examples/migrate/shop.yaml, results in docs/results/migrate
	hack/migrate

history: setup build ## measure the controllers of COMMITS, and add them to the history in docs/results/history
	hack/history $(COMMITS)

case-matrix: setup build ## run the cases as live changes, results in docs/results/case-matrix and the reference pages
	hack/case-matrix
	$(GO) test ./docs -update

check: ## vet, lint and run the tests that need no nginx, no container engine and no network
	$(GO) vet ./...
	$(GO) -C oracle vet ./...
	$(GO) run $(LINT) run --allow-parallel-runners ./...
	$(GO) test -short -vet=off ./...

# GORACE shortens the second that the race detector waits at the end of each process. Many tests wait, so
# one package more than there are processors is tested at a time. The LARGE packages, with many nginxes at
# once, have the machine to themselves: tests that run beside them make runs void and delay changes. For
# the same reason, all packages are compiled first.
RACE = GORACE=atexit_sleep_ms=100 $(GO) test -race -timeout 30m
LARGE = adapters attack cases cmd/windtunnel controller sim/behave/run sim/observe sim/regress/side

test: ## run all tests, with the race detector and a real nginx
	@hack/setup tests
	$(GO) vet ./...
	$(GO) -C oracle vet ./...
	$(GO) list -race -test -deps -export ./... > /dev/null
	@status=0; set -x; \
	$(RACE) -p 1 $(LARGE:%=./%) || status=1; \
	$(RACE) -p $$(($$(nproc) + 1)) $$($(GO) list ./... | grep -vxF $(LARGE:%=-e windtunnel.dev/%)) || status=1; \
	exit $$status

e2e: ## run the end-to-end suite on a kind cluster (node image: KIND_IMAGE), results in docs/results/e2e
	hack/e2e

cluster-traffic: setup ## run a scenario with 1, 2 and 4 traffic pods in a kind cluster of three nodes (KIND_IMAGE), results in docs/results/cluster
	hack/cluster-traffic

drivers: setup ## run five scenarios on each driver (kind node image: KIND_IMAGE), results in docs/results/drivers
	hack/three-drivers

build: ## build the commands into bin/
	$(GO) build -buildvcs=$(BUILDVCS) $(STAMP) -o bin/ ./cmd/...

setup: ## install nginx and its Lua modules if they are missing
	@hack/setup

bench: setup ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-compare: ## run the benchmarks that the commit BASE and this one share, in TURNS turns, results in docs/results/bench.txt
	@mkdir -p docs/results
	hack/bench-compare $(BASE) $(TURNS) | tee docs/results/bench.txt

bench-kubeapi: ## benchmark the simulated API server, results in docs/results/kubeapi-bench.txt
	@mkdir -p docs/results
	hack/bench-kubeapi | tee docs/results/kubeapi-bench.txt

profile-kubeapi: ## show where the simulated API server spends its time, results in docs/results/kubeapi-profile.txt
	hack/profile-kubeapi | tee docs/results/kubeapi-profile.txt

soak-kubeapi: ## run ten minutes of churn on the simulated API server, results in docs/results/kubeapi-soak.txt
	hack/bench-kubeapi Soak 6000x | tee docs/results/kubeapi-soak.txt

bench-pods: build setup ## measure simulated pods that share sockets, results in docs/results/pods.txt
	@mkdir -p docs/results
	hack/bench-pods | tee docs/results/pods.txt

nginx-memory: setup ## measure where nginx's memory goes with 5,000 hosts, results in docs/results/nginx-memory.md
	@mkdir -p docs/results
	hack/nginx-memory > docs/results/nginx-memory.md

bench-controller: setup ## measure how much work a change causes in the controller, results in docs/results/controller-scale.txt
	@mkdir -p docs/results
	hack/bench-controller | tee docs/results/controller-scale.txt

bench-load: setup ## measure how fast a lane sends, beside wrk, results in docs/results/load.txt
	@mkdir -p docs/results
	hack/bench-load | tee docs/results/load.txt

bench-lua: setup ## benchmark the Lua code inside nginx, results in docs/results/lua
	WINDTUNNEL_BENCH_LUA=$(CURDIR)/docs/results/lua/table.txt $(GO) test -count=1 -run '^TestBench$$' ./lua

bench-watch: ## measure what it costs to show a run while it goes on, results in docs/results/watch.txt
	{ hack/machine && $(GO) test -run '^$$' -bench Serve -benchtime 1x ./sim/watch/web; } | tee docs/results/watch.txt

image: ## build the images of the controller (IMAGE) and of windtunnel (HARNESS_IMAGE); works without a registry
	hack/image $(or $(IMAGE),localhost/windtunnel-controller:dev) $(HARNESS_IMAGE)

lint: ## run the linters configured in .golangci.yml
	$(GO) run $(LINT) run --allow-parallel-runners ./...

fuzz: ## run each fuzz test for FUZZTIME (default 10s)
	@for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$p/*_test.go | cut -d' ' -f2); do \
	    echo "$$p $$f"; (cd $$p && $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $${FUZZTIME:-10s} .) || exit 1; \
	  done; done

attack: setup ## run all attacks with their full number of tries, results in docs/results/attack.md
	hack/attack

predict: setup build ## fit the costs of windtunnel predict from runs, and compare predictions with held-out runs, results in docs/results/predict
	hack/predict

# MUTATIONS are further flags, such as --sample 100 or --budget 1h. A run continues the last one.
mutations: setup build ## find lines of the template and the Lua code, and settings, that no case watches; results in docs/results/mutations
	hack/mutations $(MUTATIONS)

golden: setup ## rewrite the golden files and generated docs from the current output of the tests
	$(GO) test $$(grep -rl --include='*_test.go' --exclude-dir=oracle 'windtunnel.dev/internal/golden' . | xargs -n1 dirname | sort -u) -update

oracle: bin/real/kube-apiserver ## compare the simulated API server with a real one, response by response
	cd oracle && $(GO) run . -bin ../bin/real -report ../docs/results/oracle.md

oracle-bench: bin/real/kube-apiserver ## compare the throughput of the simulated and the real API server, results in docs/results/oracle-bench.txt
	$(GO) build -o bin/windtunnel ./cmd/windtunnel
	{ hack/machine && cd oracle && $(GO) run . -bin ../bin/real -ours ../bin/windtunnel -bench 5s; } | tee docs/results/oracle-bench.txt

oracle-test: ## test the oracle itself
	$(GO) -C oracle test -race ./...

# The first build takes minutes, hence nice and -p 2; later builds come from Go's cache.
KUBE := $(shell sed -n 's/^\tk8s.io\/kubernetes //p' oracle/real/go.mod)
KUBE_VERSION := k8s.io/component-base/version
bin/real/kube-apiserver: oracle/real/go.mod
	cd oracle/real && nice $(GO) build -p 2 -o ../../bin/real/etcd go.etcd.io/etcd/server/v3
	cd oracle/real && nice $(GO) build -p 2 -ldflags '-s -w -X $(KUBE_VERSION).gitVersion=$(KUBE) -X $(KUBE_VERSION).gitMajor=1 -X $(KUBE_VERSION).gitMinor=36' \
	  -o ../../bin/real/kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver

clean: ## remove bin/ and runs/
	rm -rf bin runs
