#!/usr/bin/env bash
# image.sh node|plain|busybox FILE: writes a root file system of this machine's own programs as a tar archive.
# `node` has bash, the usual programs and Node.js, `plain` has no Node.js, `busybox` is one static program without bash.
set -euo pipefail
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
kind=$1 archive=$2
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT

packages='bash dash coreutils sed grep findutils mawk tar gzip util-linux procps hostname'

# Copies files with the libraries that they load. /bin and /lib are links into /usr.
copy() {
  { printf '%s\n' "$@"; ldd "$@" 2>/dev/null | grep -oE '/[^ :]+ \(' | tr -d ' (' || true; } |
    while read -r path; do printf '%s\n' "$path"; realpath "$path"; done |
    sed -E 's#^/(s?bin|lib[0-9x]*)/#/usr/\1/#; s#^#.#' | sort -u |
    tar -C / --no-recursion -cf - -T - | tar -C "$root" -xf -
}

mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,proc,sys,dev,run,tmp,root,home/dev}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
chmod 1777 "$root/tmp"; chmod 700 "$root/root"; chown 1000:1000 "$root/home/dev"
printf 'root:x:0:0::/root:/bin/sh\ndev:x:1000:1000::/home/dev:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\ntty:x:5:\ndev:x:1000:\n' >"$root/etc/group"

if [ "$kind" = busybox ]; then
  cp "$(command -v busybox)" "$root/usr/bin/busybox"
  for name in $(busybox --list); do [ "$name" = busybox ] || ln -sf busybox "$root/usr/bin/$name"; done
else
  # shellcheck disable=SC2046,SC2086
  copy $(dpkg -L $packages | grep -E '^/(usr/)?s?bin/[^/]+$' | while read -r path; do [ ! -x "$path" ] || echo "$path"; done)
  copy /lib/*/lib{nss_files,gcc_s,stdc++,util,dl,pthread}.so.[0-9]
  ln -sf dash "$root/usr/bin/sh"; ln -sf mawk "$root/usr/bin/awk"
  if [ "$kind" = node ]; then
    node=$(node -p process.execPath)
    copy "$node"
    [ -e "$root/usr/bin/node" ] || ln -s "$node" "$root/usr/bin/node"
  fi
  ldconfig -r "$root" 2>/dev/null
fi
tar -C "$root" --numeric-owner -cf "$archive" .
