#!/usr/bin/env bash
# podman.sh FOLDER: the service of Podman with everything below FOLDER, as the first process of namespaces of its own.
set -euo pipefail
folder=$1
here=$(dirname "$0")
. "$here/own-places.sh"
mkdir -p "$folder/tmp" "$folder/run"
# Podman asks for a million open files, which a root without CAP_SYS_RESOURCE cannot have; containers keep our limits.
printf '#!/bin/sh\nfor word; do [ "$last" != --bundle ] || sed -i '\''s/"rlimits":\\[[^]]*\\],*//'\'' "$word/config.json"; last=$word; done\nexec %s "$@"\n' \
  "$(command -v runc)" >"$folder/runc"
chmod 755 "$folder/runc"
printf '%s\n' '[containers]' 'log_driver = "k8s-file"' '[engine]' 'cgroup_manager = "cgroupfs"' 'events_logger = "file"' \
  'runtime = "runc"' '[engine.runtimes]' "runc = [\"$folder/runc\"]" >"$folder/containers.conf"
printf '%s\n' 'unqualified-search-registries = []' 'short-name-mode = "disabled"' >"$folder/registries.conf"
mkdir -p "$folder"/probe/{lower,upper,work,merged}
driver=vfs
if mount -t overlay overlay -o "lowerdir=$folder/probe/lower,upperdir=$folder/probe/upper,workdir=$folder/probe/work" "$folder/probe/merged" 2>/dev/null; then
  umount "$folder/probe/merged"; driver=overlay
fi
printf '%s\n' '[storage]' "driver = \"$driver\"" "runroot = \"$folder/run\"" "graphroot = \"$folder/data\"" >"$folder/storage.conf"
export CONTAINERS_CONF="$folder/containers.conf" CONTAINERS_STORAGE_CONF="$folder/storage.conf" CONTAINERS_REGISTRIES_CONF="$folder/registries.conf"
while :; do
  rm -f "$folder/engine.sock"
  podman --root "$folder/data" --runroot "$folder/run" --tmpdir "$folder/tmp" --storage-driver "$driver" \
    system service --time=0 "unix://$folder/engine.sock" >>"$folder/engine.log" 2>&1 &
  echo $! >"$folder/docker.pid"
  wait $! || true
  sleep 0.1
done
