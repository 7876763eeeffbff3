#!/usr/bin/env bash
# build-kubernetes.sh FOLDER: builds the servers of Kubernetes 1.20 into FOLDER, once. Debian packages only kubectl, but the source
# package of kubectl contains the servers and all their libraries, and Debian's Go builds them in about eight minutes of a processor.
set -euo pipefail
export LC_ALL=C
servers='kube-apiserver kube-controller-manager kube-scheduler kubelet'
folder=$(realpath -m "$1")
reflect=/usr/share/gocode/src/github.com/modern-go/reflect2
mkdir -p "$folder"
work=$(mktemp -d "$folder/build.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$work"/{state/lists/partial,cache/archives/partial,parts,home}

# Lists of its own, because those of the machine usually lack source packages.
if [ -e /etc/apt/sources.list.d/debian.sources ]; then
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$work/parts/debian.sources"
fi
if [ -e /etc/apt/sources.list ]; then sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$work/parts/debian.list"; fi
apt=(-qq -o "Dir::State=$work/state" -o "Dir::Cache=$work/cache" -o Dir::Etc::sourcelist=/dev/null
  -o "Dir::Etc::sourceparts=$work/parts" -o APT::Sandbox::User=root)

cd "$work"
{
  apt-get "${apt[@]}" update
  apt-get "${apt[@]}" source --download-only kubernetes
  dpkg-source -x kubernetes_*.dsc source
  # The copy of this library in the source package crashes if it is built with Debian's Go.
  cd source/vendor/github.com/modern-go/reflect2
  rm -f ./*.go ./*.s
  cp "$reflect"/*.go "$reflect"/*.s .
  cd "$work/source"
  mkdir -p .go/src/k8s.io
  ln -s ../../.. .go/src/k8s.io/kubernetes
  cd .go/src/k8s.io/kubernetes
  # shellcheck disable=SC2086
  GOPATH="$work/source/.go" GOCACHE="$work/gocache" CGO_ENABLED=0 HOME="$work/home" \
    nice make WHAT="$(printf 'cmd/%s ' $servers)" GOLDFLAGS='-s -w'
} </dev/null >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
for name in $servers; do install -m 755 "$work/source/_output/bin/$name" "$folder/$name"; done
