#!/usr/bin/env bash
# Usage: hack/verify.sh [--help]
#
# Checks that what is generated, formatted or resolved from something else is up to date, and lints. Changes
# nothing in the tree: code is regenerated in a temporary copy. All steps run, also after one has failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# -gt 0 ]; then
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
  exit 0
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=()

step() { # what is checked, what to run when it fails, command...
  local name=$1 mend=$2 start=$SECONDS
  shift 2
  echo "verify: $name"
  if "$@"; then
    echo "verify: $name: ok ($((SECONDS - start))s)"
  else
    echo "verify: $name: FAILED; to mend it: $mend"
    failed+=("$name: $mend")
  fi
}

# tree lists the files that belong to the tree, committed or not.
tree() { # pathspec...
  git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" | while IFS= read -r -d '' file; do
    if [ -e "$file" ]; then
      printf '%s\0' "$file"
    fi
  done
}

# A function that step runs has no "set -e": each line says for itself what a failure means.
generated() {
  tree . | tar -cf - --null -T - | tar -xf - -C "$tmp" || return 1
  (cd "$tmp" && git init -q && git add -A && make -s generate && git add -AN && git diff --exit-code)
}

tidy() { # module directory
  local diff
  diff=$(go -C "$1" mod tidy -diff) || {
    head -n 30 <<<"$diff"
    return 1
  }
}

formatted() {
  local files
  files=$(tree '*.go' | xargs -0 gofmt -l) || return 1
  if [ -n "$files" ]; then
    echo "$files"
    return 1
  fi
}

# pins checks that the tests run against the Kubernetes version that the code is built for.
pins() {
  local api server
  api=$(go list -m -f '{{.Version}}' k8s.io/api) || return 1
  server=$(cd hack/controlplane/kubernetes && go list -m -f '{{.Version}}' k8s.io/kubernetes) || return 1
  if [ "v1.${api#v0.}" != "$server" ]; then
    echo "k8s.io/api is $api, hack/controlplane/kubernetes has k8s.io/kubernetes $server"
    return 1
  fi
}

step "generated files" "make generate" generated
while IFS= read -r -d '' file; do
  dir=$(dirname "$file")
  step "go mod tidy in $dir" "go -C $dir mod tidy" tidy "$dir"
done < <(tree go.mod '*/go.mod')
step "Kubernetes versions" "raise hack/controlplane/kubernetes/go.mod, with its replacements, to the version of go.mod" pins
step "gofmt" "make fmt" formatted
step "go vet" "go vet ./..., then mend what it names" go vet ./...
step "golangci-lint" "make fmt, then make lint" go tool -modfile=hack/tools/lint/go.mod golangci-lint run
step "golangci-lint in hack/release" "make lint" env -C hack/release go tool -modfile=../tools/lint/go.mod golangci-lint run
step "workflows" "make lint" go tool -modfile=hack/tools/actionlint/go.mod actionlint -shellcheck= -pyflakes=

if [ ${#failed[@]} -gt 0 ]; then
  echo "verify: ${#failed[@]} of the steps failed:"
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
echo "verify: all is in order"
