# `make help` lists what there is. The two that matter: demo and test.
SHELL := /bin/bash
GO ?= go
SCENARIO ?= scenarios/endpoints/reload-vs-dynamic.yaml
LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help demo results test build setup bench bench-lua lint fuzz golden clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: setup build ## measure what an endpoint change costs: reload against dynamic
	bin/windtunnel run $(SCENARIO)

results: setup build ## run the demo and keep its results under docs/results
	hack/results $(SCENARIO)

test: setup ## run all tests, with the race detector and a real nginx
	$(GO) vet ./...
	$(GO) test -race -timeout 15m ./...

build: ## build the commands into bin/
	$(GO) build -o bin/ ./cmd/...

setup: ## install what is missing: nginx and its Lua modules
	@hack/setup

bench: setup ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-lua: setup ## measure the Lua inside nginx, into docs/results/lua
	WINDTUNNEL_BENCH_LUA=$(CURDIR)/docs/results/lua/table.txt $(GO) test -count=1 -run '^TestBench$$' ./lua

lint: ## run the linters of .golangci.yml
	$(GO) run $(LINT) run ./...

fuzz: ## run each fuzz test for FUZZTIME (10s)
	@for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$p/*_test.go | cut -d' ' -f2); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $${FUZZTIME:-10s} $$p || exit 1; \
	  done; done

golden: setup ## rewrite the golden files with what the tests get
	$(GO) test ./controller/... ./sim/... -update

clean: ## remove what was built and measured
	rm -rf bin runs
