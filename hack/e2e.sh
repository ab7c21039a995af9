#!/usr/bin/env bash
# Usage: hack/e2e.sh [--help] [flags of the suite, such as --ginkgo.fail-fast]
#
# Runs test/e2e on a real cluster, the first of these that is there:
#
#   1. the cluster of KUBECONFIG, when E2E_PLATFORM names its platform script, see below
#   2. a cluster that is started for the run and removed after it, by the script that GPUINV_CLUSTER names. With Docker
#      and kind: GPUINV_CLUSTER=hack/e2e-kind.sh
#   3. the same by ../shared/cluster/cluster beside the repository, when it exists: a cluster without Docker, needs root
#
# A platform script does to the machine of a cluster what no client of the API server can:
#
#   gpus N               give one node N devices of nvidia.com/gpu, by a device plugin; 0 ends the plugin
#   unhealthy N          let the plugin call N of them unhealthy
#   kubelet stop|start   stop the kubelet of that node, and start it again
#   image BIN TAG        make an image of a static program, entrypoint /<name of BIN>, and bring it to the nodes
#
# The script of 2 and 3 is a platform script, too, and has also:
#
#   up | down            start the cluster and remove it
#   exec CMD...          run a command where the cluster can be reached, with KUBECONFIG set. Its audit log, if any, is
#                        log/audit.log beside that file
#   status | logs NAME   say which of its programs are up, and what they have logged
#
# Environment:
#   E2E_IMAGE             image of the operator; default: built from the tree and brought in with "image"
#   E2E_PROMETHEUS_IMAGE  image of Prometheus; default: likewise, of the version of hack/tools/promtool
#   E2E_PAUSE_IMAGE       image for a pod that does nothing; default: registry.k8s.io/pause:3.10.1
#   E2E_AUDIT_LOG         audit log of the API server, for the specs about permissions; without one they are skipped
#   E2E_LOG               where the output is kept; default: bin/e2e.log
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac

log=${E2E_LOG:-bin/e2e.log}
mkdir -p "$(dirname "$log")"
tmp=$(mktemp -d)
cluster= # the script of 2 and 3
started= # set when there is a cluster to remove
job=     # the suite while it runs

say() { printf 'e2e: %s (after %dm%02ds)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }
die() {
  echo "e2e: $*" >&2
  exit 1
}

# Everything goes to the log too. tee must outlive an interrupt, to write down how things are cleaned up.
exec 3>&1 > >(exec tee -i "$log" >&3) 2>&1
tee=$!
exec 3>&-

cleanup() {
  local code=$?
  trap '' INT TERM
  if [ -n "$job" ]; then
    kill -INT -- "-$job" 2>/dev/null || true # the suite cleans up after itself
    wait "$job" || true
  fi
  [ -z "$started" ] || stop_cluster "$code"
  rm -rf "$tmp"
  say "ended with $code; the log is $log"
  exec >&- 2>&-
  wait "$tee" || true
  exit "$code"
}
trap cleanup EXIT
trap 'say interrupted; exit 130' INT
trap 'say terminated; exit 143' TERM

# stop_cluster removes the cluster, and makes sure that its programs have ended.
stop_cluster() { # exit code of the run
  local pid pids=() program i
  if [ "$1" -ne 0 ]; then
    "$cluster" status || true
    for program in kubelet containerd apiserver controller-manager scheduler; do
      echo "--- last lines of the log of $program"
      "$cluster" logs "$program" 40 || true
    done
  fi
  say "removing the cluster"
  for pid in "$(state)"/pid/*; do
    if [ -f "$pid" ]; then pids+=("$(cat "$pid")"); fi
  done
  "$cluster" down || say "removing the cluster failed: $cluster down"
  for pid in ${pids[@]+"${pids[@]}"}; do
    for ((i = 0; i < 100; i++)); do
      kill -0 "$pid" 2>/dev/null || continue 2
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
}

# state is the folder of the cluster's kubeconfig.
state() { dirname "$("$cluster" exec printenv KUBECONFIG)"; }

# install_packages gets what the cluster without Docker needs, where that is possible.
install_packages() {
  local packages=() pair
  for pair in iptables=iptables ip=iproute2 nsenter=util-linux sysctl=procps openssl=openssl gcc=gcc pkg-config=pkg-config; do
    command -v "${pair%%=*}" >/dev/null || packages+=("${pair#*=}")
  done
  [ -x /usr/lib/cni/bridge ] || packages+=(containernetworking-plugins)
  [ -f /usr/include/seccomp.h ] || packages+=(libseccomp-dev)
  [ ${#packages[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    die "these packages are missing, and only root with apt-get could install them: ${packages[*]}"
  fi
  say "installing ${packages[*]}"
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]}"
}

find_cluster() {
  if [ -n "${KUBECONFIG:-}" ] && [ -n "${E2E_PLATFORM:-}" ]; then
    return
  fi
  cluster=${GPUINV_CLUSTER:-}
  if [ -z "$cluster" ] && [ -x ../shared/cluster/cluster ]; then
    cluster=../shared/cluster/cluster
    [ "$(id -u)" -eq 0 ] || die "$cluster needs root: run as root, or set GPUINV_CLUSTER=hack/e2e-kind.sh, which needs Docker and kind"
    install_packages
  fi
  [ -n "$cluster" ] || die "there is no cluster to run on: set KUBECONFIG and E2E_PLATFORM, or GPUINV_CLUSTER=hack/e2e-kind.sh, which needs Docker and kind; see hack/e2e.sh --help"
  [ -x "$cluster" ] || die "GPUINV_CLUSTER=$cluster is not a program"
  cluster=$(realpath "$cluster")
  unset KUBECONFIG
}

start_cluster() {
  local status
  status=$("$cluster" status 2>/dev/null || true)
  if grep -q '^apiserver up' <<<"$status"; then
    say "using the cluster that is up; it will stay"
  else
    if grep -q '^apiserver DOWN' <<<"$status"; then
      "$cluster" down # what a run that was killed has left
    fi
    say "starting a cluster with $cluster; its first time builds it, which takes about 8 minutes on 2 cores"
    started=1
    "$cluster" up
    say "the cluster is up"
  fi
  export E2E_PLATFORM=$cluster
  if [ -z "${E2E_AUDIT_LOG:-}" ] && [ -f "$(state)/log/audit.log" ]; then
    E2E_AUDIT_LOG=$(state)/log/audit.log
    export E2E_AUDIT_LOG
  fi
}

# build makes the suite, and the programs for the images that are not given.
build() {
  say "building the suite, the operator and Prometheus"
  go test -c -o "$tmp/e2e.test" ./test/e2e
  [ -n "${E2E_IMAGE:-}" ] || CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$tmp/manager" ./cmd/manager
  # The tags leave out all service discovery but that of Kubernetes, which is half of the build.
  [ -n "${E2E_PROMETHEUS_IMAGE:-}" ] || CGO_ENABLED=0 go build -modfile=hack/tools/promtool/go.mod \
    -tags remove_all_sd,enable_kubernetes_sd -ldflags '-s -w' -o "$tmp/prometheus" github.com/prometheus/prometheus/cmd/prometheus
}

# bring_images does so right before the run: a kubelet that is short of disk soon removes images that no pod uses.
bring_images() {
  if [ -z "${E2E_IMAGE:-}" ]; then
    export E2E_IMAGE=gpu-inventory.test/manager:e2e
    "$E2E_PLATFORM" image "$tmp/manager" "$E2E_IMAGE"
  fi
  if [ -z "${E2E_PROMETHEUS_IMAGE:-}" ]; then
    export E2E_PROMETHEUS_IMAGE=gpu-inventory.test/prometheus:e2e
    "$E2E_PLATFORM" image "$tmp/prometheus" "$E2E_PROMETHEUS_IMAGE"
  fi
  export E2E_PAUSE_IMAGE=${E2E_PAUSE_IMAGE:-registry.k8s.io/pause:3.10.1}
}

# run_suite runs it in a process group of its own: an interrupt at the terminal is passed on once, by cleanup.
run_suite() {
  local code=0 where=()
  [ -z "$cluster" ] || where=("$cluster" exec)
  set -m
  (cd test/e2e && exec ${where[@]+"${where[@]}"} "$tmp/e2e.test" --test.timeout=15m --ginkgo.timeout=12m --ginkgo.v --ginkgo.no-color "$@") &
  job=$!
  set +m
  wait "$job" || code=$?
  job=
  return "$code"
}

say "the log is $log"
find_cluster
build
[ -z "$cluster" ] || start_cluster
bring_images
say "running the suite"
run_suite "$@"
