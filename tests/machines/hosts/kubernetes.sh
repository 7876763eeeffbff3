#!/usr/bin/env bash
# A Kubernetes cluster of one node, as root: kubernetes.sh up FOLDER PROGRAMS starts it in namespaces of its own, writes FOLDER/kubeconfig
# and loads the images nacre-test/node, nacre-test/plain and nacre-test/busybox; kubernetes.sh down FOLDER ends it with all pods.
# PROGRAMS is the folder of build-kubernetes.sh.
set -euo pipefail
umask 022
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
verb=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
name=$(printf %s "$folder" | sha256sum | cut -c1-5)
net=10.$((100 + 0x${name:0:2} % 100)).$((0x${name:2:2} % 250))
address=$net.2
keys=$folder/keys

wait_until() {
  for _ in $(seq 1200); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  tail -n 5 "$folder"/log/* >&2 || true
  echo "This did not happen within two minutes: $*" >&2
  exit 1
}

ask() { curl -sS --fail --max-time 5 --cacert "$keys/ca.crt" --cert "$keys/admin.crt" --key "$keys/admin.key" "https://$address:6443$1"; }
is_ready() { ask /api/v1/nodes/node1 | tr -d ' \n' | grep -q '"reason":"KubeletReady"'; }

# sign NAME SUBJECT [ALTERNATIVE NAMES]
sign() {
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$keys/$1.key" -subj "$2" -out "$keys/$1.csr"
  openssl x509 -req -in "$keys/$1.csr" -CA "$keys/ca.crt" -CAkey "$keys/ca.key" -CAcreateserial -days 3 -out "$keys/$1.crt" \
    -extfile <(echo extendedKeyUsage=serverAuth,clientAuth; [ -z "${3:-}" ] || echo "subjectAltName=$3")
}

create_keys() {
  mkdir -p "$keys"
  chmod 700 "$keys"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3 -keyout "$keys/ca.key" -out "$keys/ca.crt" -subj /CN=nacre-test
  openssl genrsa -out "$keys/sa.key" 2048
  sign apiserver /CN=kube-apiserver "IP:127.0.0.1,IP:$address,IP:10.96.0.1"
  sign admin /O=system:masters/CN=admin
  sign kubelet /O=system:nodes/CN=system:node:node1 "IP:$address,DNS:node1"
}

data() { base64 -w0 <"$keys/$1"; }

configure() {
  mkdir -p "$folder/cni"
  cat >"$folder/kubeconfig" <<K
apiVersion: v1
kind: Config
current-context: nacre-test
clusters: [{ name: nacre-test, cluster: { server: "https://$address:6443", certificate-authority-data: $(data ca.crt) } }]
users: [{ name: admin, user: { client-certificate-data: $(data admin.crt), client-key-data: $(data admin.key) } }]
contexts: [{ name: nacre-test, context: { cluster: nacre-test, user: admin, namespace: default } }]
K
  chmod 600 "$folder/kubeconfig"
  cat >"$folder/cni/10.conflist" <<K
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipam": { "type": "host-local", "subnet": "10.244.0.0/24", "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "loopback" }] }
K
  # A root without CAP_SYS_RESOURCE cannot lower scores of the OOM killer.
  cat >"$folder/containerd.toml" <<K
version = 2
root = "$folder/containerd"
state = "$folder/containerd-state"
[grpc]
  address = "$folder/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$folder/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/nacre-test/busybox:latest"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
K
  cat >"$folder/kubelet.yaml" <<K
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { anonymous: { enabled: false }, webhook: { enabled: false }, x509: { clientCAFile: $keys/ca.crt } }
authorization: { mode: AlwaysAllow }
cgroupDriver: cgroupfs
cgroupRoot: /nacre-$name
failSwapOn: false
tlsCertFile: $keys/kubelet.crt
tlsPrivateKeyFile: $keys/kubelet.key
evictionHard: { nodefs.available: "0%", imagefs.available: "0%", memory.available: "0%" }
imageGCHighThresholdPercent: 100
resolvConf: ""
K
}

# The first process of the cluster's namespaces.
inside() {
  local programs=$1 path
  . "$here/own-places.sh"
  hostname node1
  # kubelet sets these for the whole machine, unless they have its values already; so it is shown copies that have them.
  for path in vm/overcommit_memory:1 vm/panic_on_oom:0 kernel/panic:10 kernel/panic_on_oops:1 kernel/keys/root_maxkeys:1000000 kernel/keys/root_maxbytes:25000000; do
    echo "${path#*:}" >"/run/${path//[\/:]/-}"
    mount --bind "/run/${path//[\/:]/-}" "/proc/sys/${path%:*}"
  done
  [ -e /dev/kmsg ] || ln -s /dev/null /dev/kmsg
  for path in /sys/fs/cgroup/*/; do case $path in */unified/) ;; *) mkdir -p "${path}nacre-$name" 2>/dev/null || true ;; esac; done
  if [ -e "/sys/fs/cgroup/cpuset/nacre-$name" ]; then
    for path in cpus mems; do cat "/sys/fs/cgroup/cpuset/cpuset.$path" >"/sys/fs/cgroup/cpuset/nacre-$name/cpuset.$path"; done
  fi
  wait_until test -e "$folder/network"
  etcd --data-dir "$folder/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 >"$folder/log/etcd" 2>&1 &
  containerd --config "$folder/containerd.toml" >"$folder/log/containerd" 2>&1 &
  "$programs/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --secure-port=6443 --insecure-port=0 \
    --advertise-address="$address" --client-ca-file="$keys/ca.crt" --tls-cert-file="$keys/apiserver.crt" --tls-private-key-file="$keys/apiserver.key" \
    --authorization-mode=Node,RBAC --kubelet-client-certificate="$keys/admin.crt" --kubelet-client-key="$keys/admin.key" \
    --kubelet-preferred-address-types=InternalIP --service-cluster-ip-range=10.96.0.0/24 --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$keys/sa.key" --service-account-signing-key-file="$keys/sa.key" --allow-privileged=true \
    --endpoint-reconciler-type=none >"$folder/log/apiserver" 2>&1 &
  wait_until curl -sk --max-time 2 https://127.0.0.1:6443/healthz
  "$programs/kube-controller-manager" --kubeconfig="$folder/kubeconfig" --service-account-private-key-file="$keys/sa.key" --root-ca-file="$keys/ca.crt" \
    --leader-elect=false --port=0 --bind-address=127.0.0.1 >"$folder/log/controllers" 2>&1 &
  "$programs/kube-scheduler" --kubeconfig="$folder/kubeconfig" --leader-elect=false --port=0 --bind-address=127.0.0.1 >"$folder/log/scheduler" 2>&1 &
  wait_until test -e "$folder/images"
  "$programs/kubelet" --config="$folder/kubelet.yaml" --kubeconfig="$folder/kubeconfig" --container-runtime=remote \
    --container-runtime-endpoint="unix://$folder/containerd.sock" --root-dir="$folder/kubelet" --cert-dir="$folder/kubelet" --hostname-override=node1 \
    --node-ip="$address" --cni-conf-dir="$folder/cni" --cni-bin-dir=/usr/lib/cni --volume-plugin-dir="$folder/kubelet/plugins" \
    --seccomp-profile-root="$folder/kubelet/seccomp" --register-node=true >"$folder/log/kubelet" 2>&1 &
  while :; do wait -n || true; sleep 0.5; done
}

# load KIND FIRST: makes an archive of one layer, and imports it.
load() {
  local at=$folder/image digest
  mkdir "$at"
  "$here/image.sh" "$1" "$at/layer.tar"
  digest=$(sha256sum "$at/layer.tar" | cut -d' ' -f1)
  printf '{"architecture":"%s","os":"linux","config":{"Env":["PATH=/usr/local/bin:/usr/bin:/bin"],"Cmd":["sh","-c","while :; do sleep 3600; done"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[]}' \
    "$(dpkg --print-architecture)" "$digest" >"$at/config.json"
  printf '[{"Config":"config.json","RepoTags":["docker.io/nacre-test/%s:latest"],"Layers":["layer.tar"]}]' "$1" >"$at/manifest.json"
  tar -C "$at" -cf "$at/all.tar" manifest.json config.json layer.tar
  wait_until test -S "$folder/containerd.sock"
  nsenter -t "$2" -m -p ctr --address "$folder/containerd.sock" -n k8s.io images import "$at/all.tar"
  rm -rf "$at"
}

up() {
  local outer first='' kind
  mkdir -p "$folder/log"
  chmod 711 "$folder"
  { create_keys; configure; } >"$folder/log/keys" 2>&1
  setsid unshare --mount --pid --net --uts --fork --kill-child "$here/kubernetes.sh" inside "$folder" "$1" </dev/null >"$folder/log/inside" 2>&1 &
  outer=$!
  for _ in $(seq 200); do
    first=$(tr -d ' ' <"/proc/$outer/task/$outer/children" 2>/dev/null || true)
    [ -z "$first" ] || break
    sleep 0.02
  done
  echo "$first $(sed 's/.*) //' "/proc/$first/stat" | cut -d' ' -f20)" >"$folder/pid"
  ip link add "nk$name" type veth peer name eth0 netns "$first"
  ip addr add "$net.1/24" dev "nk$name"
  ip link set "nk$name" up
  nsenter -t "$first" -n ip addr add "$address/24" dev eth0
  nsenter -t "$first" -n ip link set eth0 up
  nsenter -t "$first" -n ip route add default via "$net.1"
  : >"$folder/network"
  for kind in node plain busybox; do load "$kind" "$first" >"$folder/log/image-$kind" 2>&1; done
  : >"$folder/images"
  wait_until is_ready
  wait_until ask /api/v1/namespaces/default/serviceaccounts/default
}

down() {
  local pid='' start=''
  read -r pid start 2>/dev/null <"$folder/pid" || true
  if [ -n "$pid" ] && [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f20)" = "$start" ]; then kill -KILL "$pid"; fi
  ip link del "nk$name" 2>/dev/null || true
  # Control groups outlive the processes in them, which take a moment to end.
  for _ in $(seq 25); do
    find /sys/fs/cgroup -depth -type d \( -path "*/nacre-$name/*" -o -name "nacre-$name" \) -exec rmdir {} + 2>/dev/null || true
    find /sys/fs/cgroup -type d -name "nacre-$name" | grep -q . || break
    sleep 0.2
  done
  rm -rf --one-file-system "$folder"
}

case $verb in
  inside) inside "$3" ;;
  up) up "$3" ;;
  down) down ;;
esac
