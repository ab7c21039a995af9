SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Tools are built from pinned modules; nothing is installed.
CONTROLLER_GEN := go tool -modfile=hack/tools/go.mod controller-gen
HELM_DOCS := go tool -modfile=hack/tools/helmdocs/go.mod helm-docs
GOLANGCI_LINT := go tool -modfile=hack/tools/lint/go.mod golangci-lint
ACTIONLINT := go tool -modfile=hack/tools/actionlint/go.mod actionlint -shellcheck= -pyflakes=
GOVULNCHECK := go tool -modfile=hack/tools/govulncheck/go.mod govulncheck
# Without the tag, half of the build is service discovery that no test needs. Without cgo, the end-to-end suite's Prometheus
# shares most of it.
PROMTOOL := CGO_ENABLED=0 go run -tags remove_all_sd -modfile=hack/tools/promtool/go.mod github.com/prometheus/prometheus/cmd/promtool
CONTROLPLANE := hack/controlplane/controlplane.sh

CHART := charts/gpu-inventory-operator
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"

##@ General

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "; print "Usage: make <target>"} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: clean
clean: ## Remove what the build leaves in the tree
	rm -rf bin

##@ Code

.PHONY: generate
generate: ## Regenerate deepcopy code, the CRD, the RBAC role and the chart's README and schema
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=$(CHART)/files/crds
	@rm -f config/rbac/role.yaml # without a marker nothing is written: no old rules must stay
	$(CONTROLLER_GEN) rbac:roleName=gpu-inventory-operator paths=./internal/... paths=./cmd/... output:rbac:dir=config/rbac
	go run ./hack/helmschema $(CHART)
	$(HELM_DOCS) --chart-search-root=$(CHART) --log-level=warning

.PHONY: fmt
fmt: ## Format the Go code and order its imports
	$(GOLANGCI_LINT) fmt

.PHONY: lint
lint: ## Run the linters of .golangci.yml, and that of the workflows
	$(GOLANGCI_LINT) run
	cd hack/release && go tool -modfile=../tools/lint/go.mod golangci-lint run
	$(ACTIONLINT)

.PHONY: verify
verify: ## Check that generated files, modules, formatting and lint are in order; changes nothing
	hack/verify.sh

##@ Tests

.PHONY: test
test: lint test-unit test-alerts test-envtest test-chart ## Run the linters and all tests that need no cluster

.PHONY: test-unit
test-unit: ## Run the tests that need no API server
	go test -timeout 10m $$(go list ./... | grep -vE '/test/(envtest|chart|e2e)$$')
	go -C hack/release test -count=1 . # it reads files outside its module, which the cache of test results does not see

.PHONY: test-envtest
test-envtest: ## Run the envtest suite against a real API server (K8S=1.x.y for another version)
	assets=$$($(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go test -count=1 -v -timeout 20m ./test/envtest/...

.PHONY: test-chart
test-chart: ## Run the chart tests against a real API server
	assets=$$($(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go test -count=1 -timeout 10m ./test/chart/...

.PHONY: test-alerts
test-alerts: ## Check the alert rules and run their tests with promtool
	$(PROMTOOL) check rules --lint=all --lint-fatal $(CHART)/files/alerts/rules.yaml
	$(PROMTOOL) test rules test/alerts/*.yaml

.PHONY: test-e2e
test-e2e: ## Run the end-to-end suite on a real cluster (which one: hack/e2e.sh --help; E2E="flags of Ginkgo")
	@exec hack/e2e.sh $(E2E)

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

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in what is shipped (VULNDB=URL for another database than vuln.go.dev)
	$(GOVULNCHECK) $(if $(VULNDB),-db $(VULNDB)) ./cmd/...

.PHONY: release-dry-run
release-dry-run: ## Rehearse a release of the last commit on 127.0.0.1: build, push, sign, verify (RELEASE=--cold proves more)
	@exec hack/release/release.sh dry-run $(RELEASE)

.PHONY: demo
demo: ## Show the operator at work on a real API server with pretended nodes (DEMO_ONCE=1 to end by itself)
	@assets=$$($(CONTROLPLANE)) && KUBEBUILDER_ASSETS=$$assets go run ./hack/demo
