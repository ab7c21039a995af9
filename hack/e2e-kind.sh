#!/usr/bin/env bash
# Usage: hack/e2e-kind.sh up|down|status|exec CMD...|image BIN TAG|gpus N|unhealthy N|kubelet stop|start|logs NAME
#
# A cluster of one node with kind, as a platform script for the end-to-end suite: GPUINV_CLUSTER=hack/e2e-kind.sh make test-e2e
# What each verb does is said in hack/e2e.sh. Needs Docker, kind and Go.
#
# Environment:
#   KIND_CLUSTER     its name; default: gpu-inventory-e2e
#   KIND_NODE_IMAGE  the node image of kind, for another version of Kubernetes
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

name=${KIND_CLUSTER:-gpu-inventory-e2e}
node=$name-control-plane
state=${TMPDIR:-/tmp}/$name
export KUBECONFIG=$state/kubeconfig

die() {
  echo "e2e-kind: $*" >&2
  exit 1
}

up() {
  mkdir -p "$state"
  local image=()
  [ -z "${KIND_NODE_IMAGE:-}" ] || image=(--image "$KIND_NODE_IMAGE")
  kind create cluster --name "$name" --kubeconfig "$KUBECONFIG" --wait 120s ${image[@]+"${image[@]}"}
}

# image wraps a program in an image that has nothing else and brings it to the node.
image() { # program, tag
  local dir program
  program=$(basename "$1")
  dir=$(mktemp -d)
  cp "$1" "$dir/$program"
  printf 'FROM scratch\nCOPY %s /%s\nUSER 65532:65532\nENTRYPOINT ["/%s"]\n' "$program" "$program" "$program" >"$dir/Dockerfile"
  docker build -q -t "$2" "$dir"
  rm -rf "$dir"
  kind load docker-image "$2" --name "$name"
}

# gpus runs a device plugin beside the kubelet, in the container that is the node.
gpus() { # how many
  docker exec "$node" sh -c 'if [ -f /run/e2e-plugin.pid ]; then kill "$(cat /run/e2e-plugin.pid)"; rm /run/e2e-plugin.pid; fi' || true
  [ "$1" -gt 0 ] || return 0
  (cd "$root/hack/tools/deviceplugin" && CGO_ENABLED=0 go build -o "$state/deviceplugin" .)
  docker cp "$state/deviceplugin" "$node:/usr/local/bin/e2e-plugin"
  docker exec -d "$node" sh -c "echo \$\$ >/run/e2e-plugin.pid; exec e2e-plugin -count $1 -unhealthy /run/e2e-unhealthy"
}

verb=${1:-}
shift || true
case $verb in
  up) up ;;
  down)
    kind delete cluster --name "$name"
    rm -rf "$state"
    ;;
  status)
    if [ "$(docker inspect -f '{{.State.Running}}' "$node" 2>/dev/null)" = true ]; then echo "apiserver up"; else echo "apiserver DOWN"; fi
    ;;
  exec) exec "$@" ;;
  image) image "$1" "$2" ;;
  gpus) gpus "$1" ;;
  unhealthy) docker exec "$node" sh -c "echo $1 >/run/e2e-unhealthy" ;;
  kubelet)
    case ${1:-} in
      stop | start) docker exec "$node" systemctl "$1" kubelet ;;
      *) die "kubelet ${1:-}: want stop or start" ;;
    esac
    ;;
  logs)
    case ${1:-} in
      kubelet | containerd) docker exec "$node" journalctl --no-pager -n "${2:-50}" -u "$1" ;;
      *) docker exec "$node" sh -c "tail -n ${2:-50} /var/log/containers/*$1*.log" ;;
    esac
    ;;
  *)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
