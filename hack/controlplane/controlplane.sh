#!/usr/bin/env bash
# Usage: hack/controlplane/controlplane.sh [--help]
#
# Prints the directory that holds a real etcd, kube-apiserver and kubectl, for the tests and the demo:
#
#   KUBEBUILDER_ASSETS=$(hack/controlplane/controlplane.sh) go test ./test/envtest/...
#
# The first of these that works:
#   1. KUBEBUILDER_ASSETS, when set
#   2. the cache of an earlier run
#   3. a download with setup-envtest
#   4. a build from the Go modules of Kubernetes and etcd: needs only a Go module proxy; about 6 minutes on
#      2 cores, once per version
#
# Environment:
#   K8S                 Kubernetes version, such as 1.32.5 (default: the one that goes with k8s.io/api in
#                       go.mod; a download may then differ from it in the patch)
#   CONTROLPLANE_CACHE  default: ${XDG_CACHE_HOME:-$HOME/.cache}/gpu-inventory-operator/controlplane
#
# Only the directory goes to stdout, everything else to stderr.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tmp=
job=

say() { printf 'controlplane: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# cleanup leaves no process and no half-built directory behind.
cleanup() {
  if [ -n "$job" ]; then
    kill -TERM -- "-$job" 2>/dev/null || true
    wait "$job" 2>/dev/null || true
  fi
  if [ -n "$tmp" ]; then
    rm -rf "$tmp"
  fi
}
trap cleanup EXIT
trap 'say interrupted; exit 130' INT
trap 'say terminated; exit 143' TERM

# module_version prints the version, without v, that a go.mod requires of a module.
module_version() { # go.mod, module
  sed -nE "s#^(require)?[[:space:]]*$2 v([0-9.]+).*#\2#p" "$1" | head -n 1
}

missing() { # directory: prints the first program that is not in it
  local program
  for program in etcd kube-apiserver kubectl; do
    if [ ! -x "$1/$program" ]; then
      echo "$program"
      return
    fi
  done
}

finish() { # directory
  (cd "$1" && pwd)
  exit 0
}

use_assets() {
  local lacks has
  lacks=$(missing "$KUBEBUILDER_ASSETS")
  if [ -n "$lacks" ]; then
    die "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS has no $lacks; unset it to use the cache or a build"
  fi
  has=$("$KUBEBUILDER_ASSETS/kube-apiserver" --version)
  if [ -n "${K8S:-}" ] && [ "$has" != "Kubernetes v$version" ]; then
    say "KUBEBUILDER_ASSETS holds $has, not the v$version asked for: not used"
    return
  fi
  finish "$KUBEBUILDER_ASSETS"
}

# download asks the setup-envtest index. Released assets exist for few patch versions, so without an explicit
# K8S any patch of the minor version will do.
download() {
  local want=$version dir limit=()
  [ -n "${K8S:-}" ] || want="${version%.*}.x"
  if command -v timeout >/dev/null; then
    limit=(timeout --foreground 120)
  fi
  (cd "$root" && go build -modfile=hack/tools/go.mod -o "$tmp/setup-envtest" \
    sigs.k8s.io/controller-runtime/tools/setup-envtest) >"$tmp/log" 2>&1 || return 1
  dir=$(${limit[@]+"${limit[@]}"} "$tmp/setup-envtest" use "$want" -p path --bin-dir "$cache/envtest" 2>"$tmp/log") || return 1
  [ -z "$(missing "$dir")" ] || return 1
  rm -rf "$cached"
  ln -s "$dir" "$cached"
}

# build compiles programs into $tmp/bin and says every 30 s that it is still at it.
build() { # what it is called, module directory, output in $tmp/bin, [go build flags] packages...
  local name=$1 dir=$2 output=$tmp/bin/$3 start=$SECONDS seconds=0 shown=0
  shift 3
  set -m # a process group of its own, so that cleanup reaches the compilers too
  (
    cd "$dir"
    # Static programs, so that a cache may move between machines; temporary files under $tmp, so that an
    # interrupt leaves none behind.
    export CGO_ENABLED=0 GOWORK=off GOTMPDIR="$tmp"
    exec go build -trimpath -o "$output" "$@"
  ) >"$tmp/log" 2>&1 9>&- &
  job=$!
  set +m
  while kill -0 "$job" 2>/dev/null; do
    sleep 1
    seconds=$((SECONDS - start))
    if [ $((seconds / 30)) -gt $shown ]; then
      shown=$((seconds / 30))
      say "still building $name: $((seconds / 60))m$((seconds % 60))s"
    fi
  done
  if ! wait "$job"; then
    job=
    grep -v '^go: downloading' "$tmp/log" | tail -n 20 >&2 || true
    die "building $name failed"
  fi
  job=
  say "built $name in $((SECONDS - start))s"
}

# generate_module writes the module of a Kubernetes version that this repository does not pin. The go line
# is that of the release, because it decides the GODEBUG defaults that the release was tested with.
generate_module() { # directory
  local release
  release=$(cd "$1" && go list -m -f '{{.GoMod}}' "k8s.io/kubernetes@v$version") ||
    die "there is no module k8s.io/kubernetes v$version"
  {
    echo "module controlplane"
    grep '^go ' "$release"
    echo "require k8s.io/kubernetes v$version"
    sed -nE "s#^[[:space:]]*(k8s\.io/[a-z-]+) => \./staging/.*#replace \1 => \1 v0.${version#1.}#p" "$release"
  } >"$1/go.mod"
}

build_all() {
  local module=$here/kubernetes mod=readonly minor=${version#1.} stamp=k8s.io/component-base/version
  minor=${minor%%.*}
  mkdir -p "$tmp/bin"
  say "building from Go modules, once: etcd (about 20 s), kube-apiserver $version (4 min), kubectl (1 min; on 2 cores)"
  if [ "$version" != "$(module_version "$module/go.mod" k8s.io/kubernetes)" ]; then
    module=$tmp/module mod=mod
    mkdir "$module"
    generate_module "$module"
  fi
  build etcd "$here/etcd" etcd -ldflags "-s -w" go.etcd.io/etcd/server/v3
  build "kube-apiserver and kubectl" "$module" "" -mod="$mod" \
    -ldflags "-s -w -X $stamp.gitVersion=v$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl
  rm -rf "$cached"
  mv "$tmp/bin" "$cached"
}

case ${1:-} in
  "") ;;
  -h | --help)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) die "unknown argument $1; see --help" ;;
esac

version=${K8S:-1.$(module_version "$root/go.mod" k8s.io/api | sed 's/^0\.//')}
version=${version#v}
[[ $version =~ ^1\.[0-9]+\.[0-9]+$ ]] || die "not a Kubernetes version: $version (want one like 1.32.5)"

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  use_assets
fi

cache=${CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-inventory-operator/controlplane}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
cached=$cache/v$version
if [ -z "$(missing "$cached")" ]; then
  finish "$cached"
fi

# One build at a time; whoever waited finds it in the cache.
if command -v flock >/dev/null; then
  exec 9>"$cache/.lock"
  flock -n 9 || {
    say "waiting for another run that fills $cache"
    flock 9
  }
  if [ -z "$(missing "$cached")" ]; then
    finish "$cached"
  fi
fi

command -v go >/dev/null || die "Go is missing: https://go.dev/doc/install"
tmp=$(mktemp -d "$cache/.build.XXXXXX")
if ! download; then
  say "Kubernetes $version cannot be downloaded here: building it"
  build_all
fi
finish "$cached"
