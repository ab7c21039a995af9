SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Tools are built from pinned modules; nothing is installed.
CONTROLLER_GEN := go tool -modfile=hack/tools/go.mod controller-gen
GOLANGCI_LINT := go tool -modfile=hack/tools/lint/go.mod golangci-lint
CONTROLPLANE := hack/controlplane/controlplane.sh

CHART := charts/gpu-inventory-operator
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"

##@ General

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "; print "Usage: make <target>"} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: clean
clean: ## Remove what the build leaves in the tree
	rm -rf bin

##@ Code

.PHONY: generate
generate: ## Regenerate deepcopy code, the CRD and the RBAC role
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=$(CHART)/files/crds
	@rm -f config/rbac/role.yaml # without a marker nothing is written: no old rules must stay
	$(CONTROLLER_GEN) rbac:roleName=gpu-inventory-operator paths=./internal/... paths=./cmd/... output:rbac:dir=config/rbac

.PHONY: fmt
fmt: ## Format the Go code and order its imports
	$(GOLANGCI_LINT) fmt

.PHONY: lint
lint: ## Run the linters of .golangci.yml
	$(GOLANGCI_LINT) run

.PHONY: verify
verify: ## Check that generated files, modules, formatting and lint are in order; changes nothing
	hack/verify.sh

##@ Tests

.PHONY: test
test: test-unit test-envtest test-chart ## Run all tests; needs no cluster and no network but a Go module proxy

.PHONY: test-unit
test-unit: ## Run the tests that need no API server
	go test -timeout 10m $$(go list ./... | grep -vE '/test/(envtest|chart)$$')

.PHONY: test-envtest
test-envtest: ## Run the envtest suite against a real API server (K8S=1.x.y for another version)
	assets=$$($(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go test -count=1 -v -timeout 20m ./test/envtest/...

.PHONY: test-chart
test-chart: ## Run the chart tests against a real API server
	assets=$$($(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go test -count=1 -timeout 10m ./test/chart/...

.PHONY: test-compat
test-compat: ## Run the envtest suite against the oldest supported Kubernetes, 1.32.5 (K8S=1.x.y for another)
	assets=$$(K8S=$${K8S:-1.32.5} $(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go test -count=1 -v -timeout 20m ./test/envtest/...

.PHONY: bench
bench: ## Measure against the budgets on a small cluster (BENCH="--full --write" for 5,000 nodes, into docs/performance.md)
	hack/bench.sh $(BENCH)

##@ Build

.PHONY: build
build: ## Build bin/manager and bin/kubectl-gpuinv
	$(GO_BUILD) -o bin/manager ./cmd/manager
	$(GO_BUILD) -o bin/kubectl-gpuinv ./cmd/kubectl-gpuinv

.PHONY: demo
demo: ## Show the operator at work on a real API server with pretended nodes (DEMO_ONCE=1 to end by itself)
	@assets=$$($(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go run ./hack/demo
