#!/usr/bin/env bash
# Usage: hack/release/release.sh dry-run [--cold] [--assets DIR] [--outputs FILE]
#        hack/release/release.sh publish --tag v1.2.3 --identity URL [--cold] [--assets DIR] [--outputs FILE]
#
# Releases the last commit, never the work tree: builds the image with ko, the archives of the plugin with goreleaser, their
# SBOMs with syft and the chart with helm; pushes image and chart, signs them with cosign, and verifies all of it.
#
# dry-run does so with a registry of its own on 127.0.0.1 and a key that it throws away; once the tools are built, nothing that
# it runs can reach another machine. publish takes the same steps with the real registry and keyless signatures.
#
#   --cold          compile the second build with an empty build cache: slower, and proves more
#   --assets DIR    leave the files for the release page there
#   --outputs FILE  append the digests to it, as lines image=... and chart=...
#   --tag TAG       the Git tag of the commit: v and the chart's version
#   --identity URL  the workflow that signs, as its certificate names it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

public=ghcr.io/gpu-inventory
name=gpu-inventory-operator
source=https://github.com/gpu-inventory/gpu-inventory-operator
issuer=https://token.actions.githubusercontent.com
max_pull=$((20 << 20)) # our promise: what a node pulls for one platform

say() { printf 'release: [%4ds] %s\n' "$SECONDS" "$*"; }
die() {
  echo "release: $*" >&2
  exit 1
}

mode=${1:-} tag='' identity='' assets='' outputs='' cold=''
case $mode in
  dry-run | publish) shift ;;
  --help | -h) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && exit ;;
  *) die "say what to do: dry-run, or publish --tag v1.2.3 --identity URL" ;;
esac
while [ $# -gt 0 ]; do
  case $mode$1 in
    *--cold) cold=1 && shift && continue ;;
    publish--tag | publish--identity | *--assets | *--outputs) [ -n "${2:-}" ] || die "$1 needs a value" ;;
    *) die "unexpected argument \"$1\"" ;;
  esac
  printf -v "${1#--}" %s "$2"
  shift 2
done
if [ "$mode" = publish ] && { [ -z "$tag" ] || [ -z "$identity" ]; }; then
  die "publish needs --tag and --identity"
fi

# Whatever is made on the way is in one folder, which goes in the end.
work=$(mktemp -d) registry_pid=''
cleanup() {
  [ -z "$registry_pid" ] || kill "$registry_pid" 2>/dev/null || true
  chmod -R u+w "$work" && rm -rf "$work"
}
trap cleanup EXIT
trap 'echo "release: interrupted; what it had made is removed" >&2; exit 130' INT TERM
mkdir -p "$work"/{bin,home,assets,verified,chart}

# quietly shows what a command says only when it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || {
    tail -n 30 "$work/log" >&2
    die "$1 failed"
  }
}

commit=$(git rev-parse HEAD)
epoch=$(git log -1 --format=%ct) # the only time that gets into what is built
clone() { # folder
  git clone -q "$PWD" "$1" && git -C "$1" checkout -q --detach "$commit"
}
root=$PWD src=$work/first again=$work/the-same-commit-in-another-folder
clone "$src" && clone "$again"
cd "$src"

chart=charts/$name
number=$(sed -n 's/^version: //p' $chart/Chart.yaml)
app=$(sed -n 's/^appVersion: //p' $chart/Chart.yaml)
repository=$(sed -n '/^image:/,/^[a-z]*:$/s/^  repository: //p' $chart/values.yaml | head -1)
[ "$app" = "$number" ] || die "the chart has version $number and appVersion $app: set both in Chart.yaml to one number"
[ "$repository" = "$public/$name" ] || die "the chart has image.repository \"$repository\": the image is released as $public/$name"
[ -z "$tag" ] || [ "$tag" = "v$number" ] ||
  die "the tag is $tag and the chart has version $number: tag v$number, or set version and appVersion in a commit before the tag"
[ -z "$(git -C "$root" status --porcelain)" ] || say "the work tree has changes that are not committed; they are not in what is built"
say "v$number, commit ${commit:0:12}, with $(go env GOVERSION)"

for tool in cosign syft helm ko ko/crane goreleaser; do
  say "building ${tool#*/}, unless the build cache has it"
  path=$(go tool -n -modfile="hack/tools/${tool%/*}/go.mod" "${tool#*/}")
  ln -s "$path" "$work/bin/${tool#*/}"
done
go mod download
go -C hack/release test -c -o "$work/bin/outcome.test" .

registry=$public plain_http=() release=(--skip=publish)
make=(--yes) verify=(--certificate-oidc-issuer "$issuer" --certificate-identity "$identity") reject=("${verify[@]}-not")
if [ "$mode" = dry-run ]; then
  GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE) GOENV=$(go env GOENV)
  export GOCACHE GOMODCACHE GOENV GOPROXY=off HOME=$work/home TMPDIR=$work DOCKER_CONFIG=$work/home XDG_CACHE_HOME=$work/home
  export HTTPS_PROXY=http://127.0.0.1:1 HTTP_PROXY=http://127.0.0.1:1 NO_PROXY=127.0.0.1
  export COSIGN_PASSWORD='' SYFT_CHECK_FOR_APP_UPDATE=false
  "$work/bin/crane" registry serve --address 127.0.0.1:0 2>"$work/registry.log" &
  registry_pid=$!
  until port=$(sed -n 's/.*serving on port //p' "$work/registry.log") && [ -n "$port" ]; do
    kill -0 "$registry_pid" || die "the registry does not start: $(cat "$work/registry.log")"
    sleep 0.1
  done
  registry=127.0.0.1:$port/${public#*/} plain_http=(--plain-http) release=(--snapshot)
  say "registry on 127.0.0.1:$port"
  export PATH=$work/bin:$PATH
  # Both name no service: neither is anything uploaded, nor is the list of public services fetched.
  quietly cosign signing-config create --out "$HOME/signing-config.json"
  quietly cosign trusted-root create --out "$HOME/trusted-root.json"
  for key in cosign stranger; do
    quietly cosign generate-key-pair --output-key-prefix "$HOME/$key"
  done
  make=(--key "$HOME/cosign.key" --signing-config "$HOME/signing-config.json" --trusted-root "$HOME/trusted-root.json" --yes)
  verify=(--key "$HOME/cosign.pub" --insecure-ignore-tlog=true) reject=(--key "$HOME/stranger.pub" --insecure-ignore-tlog=true)
fi
export PATH=$work/bin:$PATH
image=$registry/$name charts=$registry/charts

# What would change a binary is taken out of the environment.
export GOFLAGS='' GOEXPERIMENT='' GOFIPS140=off GOWORK=off GOAMD64=v1 GOARM64=v8.0 TZ=UTC
export SOURCE_DATE_EPOCH=$epoch VERSION=v$number GORELEASER_CURRENT_TAG=v$number KO_DOCKER_REPO=$image
labels=(
  title="$name" source="$source" licenses=Apache-2.0 version="$number" revision="$commit" created="$(date -d "@$epoch" +%FT%TZ)"
  description="Keeps one answer current: which GPUs a cluster has, which can be used, and why the others cannot."
)
# The quotes are CSV's, for the commas in the description.
described=("${labels[@]/#/--image-label=\"org.opencontainers.image.}" "${labels[@]/#/--image-annotation=\"org.opencontainers.image.}")
described=("${described[@]/%/\"}")

ko_build() { # sources, flag of ko
  export KOCACHE=$1.ko
  mkdir "$KOCACHE" && cp -r hack/release/base "$KOCACHE/img" # a base image that ko finds there is not fetched
  quietly ko build --bare --sbom=none --tags="$number" "${described[@]}" --image-refs="$1.refs" "$2" ./cmd/manager
  digest=$(sed -n '$s/.*@//p' "$1.refs")
}
archives() { # checksums and krew manifest of the archives
  grep -v spdx.json dist/checksums.txt && cat dist/krew/gpuinv.yaml
}
# helm package writes the clock's time into the archive; it is replaced by the commit's.
package() { # folder for the archive
  quietly helm package $chart --destination "$1.helm"
  mkdir -p "$1" && tar -xzf "$1.helm/$name-$number.tgz" -C "$1.helm"
  tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$1.helm" -cf - "$name" |
    gzip -9n >"$1/$name-$number.tgz"
  touch -d "@$epoch" "$1/$name-$number.tgz" # which is what helm push says about its creation
}

# verified runs a verification, keeps what it says for the tests of the outcome, and makes sure that it refuses a stranger.
verified() { # command of cosign, reference, flags...
  local verb=$1 ref=$2
  cosign "$verb" "${verify[@]}" "${@:3}" "$ref" >"$work/verified/$verb-${ref##*:}" 2>"$work/log" || die "$(cat "$work/log")"
  if cosign "$verb" "${reject[@]}" "${@:3}" "$ref" >"$work/log" 2>&1; then
    die "cosign $verb $ref passes for a signer who did not sign it"
  fi
}

say "building and pushing the image $image:$number"
ko_build "$src" --push=true
index=$image@$digest
[ "$(crane digest "$image:$number")" = "$digest" ] || die "$image:$number as pulled is not $digest"
say "building the plugin's archives and their SBOMs"
quietly goreleaser release --clean "${release[@]}"
package "$work/chart"

say "building the same commit again, in another folder${cold:+, with an empty build cache}"
(
  cd "$again"
  [ -z "$cold" ] || export GOCACHE=$work/cache
  ko_build "$again" --push=false
  [ "$image@$digest" = "$index" ] || die "two builds of one commit differ: $digest is not ${index#*@}"
  quietly goreleaser release --clean --skip=sbom "${release[@]}"
  package "$work/chart-again"
)
diff <(archives) <(cd "$again" && archives) || die "two builds of one commit differ: the plugin's archives"
cmp "$work"/chart{,-again}/"$name-$number.tgz" || die "two builds of one commit differ: the chart"
say "two builds: the same image, the same archives, the same chart"

say "signing and verifying $index"
quietly cosign sign "${make[@]}" --recursive "$index"
verified verify "$index"
printf '%-44s %-72s %10s\n' WHAT DIGEST BYTES "image $number" "$digest" - >"$work/table"
for arch in amd64 arm64; do
  one=$image@$(crane digest --platform "linux/$arch" "$index")
  verified verify "$one"
  manifest=$(crane manifest "$one")
  bytes=$(grep -o '"size":[0-9]*' <<<"$manifest" | awk -F: -v n="${#manifest}" '{ n += $2 } END { print n }')
  [ "$bytes" -le "$max_pull" ] || die "a node pulls $bytes bytes for linux/$arch: at most $max_pull is promised"
  printf '%-44s %-72s %10s\n' "  linux/$arch" "${one#*@}" "$bytes" >>"$work/table"
  say "attesting the SBOM for linux/$arch and verifying it"
  sbom=$work/assets/${name}_v${number}_linux_$arch.spdx.json
  quietly syft scan --quiet --from registry --source-name "$name" --output "spdx-json=$sbom" "$one"
  for ref in "$one" "$index"; do # the index is what a tag names
    quietly cosign attest "${make[@]}" --type spdxjson --predicate "$sbom" "$ref"
    verified verify-attestation "$ref" --type spdxjson
  done
done

say "pushing the chart oci://$charts/$name, version $number"
quietly helm push "$work/chart/$name-$number.tgz" "oci://$charts" "${plain_http[@]}"
chart_digest=$(sed -n 's/^Digest: //p' "$work/log")
quietly helm pull "oci://$charts/$name" --version "$number" --destination "$work/pulled" "${plain_http[@]}"
cmp "$work"/{chart,pulled}/"$name-$number.tgz" || die "the chart as pulled is not the one that was pushed"
say "signing and verifying $charts/$name@$chart_digest"
quietly cosign sign "${make[@]}" "$charts/$name@$chart_digest"
verified verify "$charts/$name@$chart_digest"
printf '%-44s %-72s %10s\n' "chart $number" "$chart_digest" "$(wc -c <"$work/chart/$name-$number.tgz")" >>"$work/table"

cp dist/kubectl-gpuinv_* dist/krew/gpuinv.yaml dist/checksums.txt "$work/assets"
(cd "$work/assets" && sha256sum gpuinv.yaml "$name"_*.spdx.json >>checksums.txt)
for file in "$work"/assets/kubectl-gpuinv_*{.tar.gz,.zip}; do
  printf '%-44s %-72s %10s\n' "${file##*/}" "sha256:$(sha256sum "$file" | cut -d' ' -f1)" "$(wc -c <"$file")" >>"$work/table"
done
say "testing what has been released"
(
  cd hack/release
  export RELEASE_WORK=$work RELEASE_IMAGE=$index RELEASE_CHART=$charts/$name@$chart_digest RELEASE_COMMIT=$commit
  quietly "$work/bin/outcome.test" -test.v -test.run '^TestReleased'
)
[ -z "$outputs" ] || (cd "$root" && printf 'image=%s\nchart=%s\n' "${index#*@}" "$chart_digest" >>"$outputs")
[ -z "$assets" ] || (cd "$root" && mkdir -p "$assets" && cp "$work"/assets/* "$assets")
say "done"
cat "$work/table"
