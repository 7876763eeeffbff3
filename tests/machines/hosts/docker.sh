#!/usr/bin/env bash
# docker.sh FOLDER: containerd and dockerd with everything below FOLDER, as the first process of namespaces of its own.
set -euo pipefail
folder=$1
here=$(dirname "$0")
. "$here/own-places.sh"
printf '%s\n' 'version = 2' "root = \"$folder/containerd\"" "state = \"$folder/containerd-state\"" \
  'disabled_plugins = ["io.containerd.grpc.v1.cri"]' '[grpc]' "  address = \"$folder/containerd.sock\"" \
  '[plugins."io.containerd.internal.v1.opt"]' "  path = \"$folder/opt\"" >"$folder/containerd.toml"
# The bridge is in a network namespace that leads nowhere, so it needs no firewall.
printf '{"iptables":false,"ip6tables":false,"cgroup-parent":"/%s","exec-opts":["native.cgroupdriver=cgroupfs"],"bip":"172.31.254.1/24"}' \
  "$(basename "$folder")" >"$folder/daemon.json"
containerd --config "$folder/containerd.toml" >"$folder/containerd.log" 2>&1 &
until [ -S "$folder/containerd.sock" ]; do sleep 0.05; done
# One that was killed is started again; its containers go on.
while :; do
  rm -f "$folder/docker.pid"
  dockerd --containerd "$folder/containerd.sock" --data-root "$folder/data" --exec-root "$folder/exec" \
    --pidfile "$folder/docker.pid" --host "unix://$folder/engine.sock" --group root --config-file "$folder/daemon.json" \
    --live-restore >>"$folder/engine.log" 2>&1 || true
  sleep 0.1
done
