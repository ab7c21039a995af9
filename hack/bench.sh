#!/usr/bin/env bash
# Usage: hack/bench.sh [--full] [--write] [--help] [-- flags of test/scale]
#
# Measures the operator and prints tables of what was measured beside its budget:
#
#   1. Go benchmarks of the pure parts at 100 to 15,000 nodes; fails when the cost of a node grows with their number
#   2. test/scale: a real API server with made-up nodes and pods, the manager, and a bare client-go reflector beside
#      it; fails on counts and on ratios, never on times
#
#   --full   5,000 nodes and 100,000 pods instead of 500 and 5,000: about 20 minutes on 2 cores instead of 5, and
#            4 GiB of memory and of disk
#   --write  put the tables into docs/performance.md, too
#
# A busy machine gives high figures: let nothing else run meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size=(-nodes 500 -pods 5000 -rest 10s -idle 20s -changes 10)
out=()
while [ $# -gt 0 ]; do
  case $1 in
    --full) size=() ;;
    --write) out=(-out docs/performance.md) ;;
    -h | --help)
      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --)
      shift
      break
      ;;
    *)
      echo "bench: unknown argument $1; see --help" >&2
      exit 2
      ;;
  esac
  shift
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=

echo "bench: Go benchmarks" >&2
# One package after the other: two at a time would measure each other.
go test -p 1 -run '^$' -bench '/nodes=' -benchmem -benchtime 0.3s ./internal/... >"$tmp/bench" || {
  cat "$tmp/bench" >&2
  exit 1
}
go run ./test/scale/growth ${out[@]+"${out[@]}"} <"$tmp/bench" || failed=1

echo "bench: a cluster" >&2
assets=$(hack/controlplane/controlplane.sh)
go build -o "$tmp/scale" ./test/scale
KUBEBUILDER_ASSETS=$assets "$tmp/scale" ${size[@]+"${size[@]}"} ${out[@]+"${out[@]}"} "$@" || failed=1

if [ -n "$failed" ]; then
  echo "bench: failed, see above" >&2
  exit 1
fi
