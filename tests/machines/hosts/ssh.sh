#!/usr/bin/env bash
# Machines for ssh, as root: ssh.sh up DIR COUNT [INDEX:PROGRAM...] starts h1 to hCOUNT without the named programs and prints nothing,
# ssh.sh cut|heal|off|on DIR INDEX changes the network or the power of one, ssh.sh down DIR ends all. DIR/config is for ssh -F.
set -euo pipefail
umask 022
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
verb=$1 dir=$2
name=$(printf %s "$dir" | sha256sum | cut -c1-5)
net=10.$((100 + 0x${name:0:2} % 100)).$((0x${name:2:2} % 250))

alive() {
  local pid start
  read -r pid start 2>/dev/null <"$dir/$1/pid" && [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f20)" = "$start" ]
}

# The first process of a machine: its own processes, host name, network, /home, /tmp and a copy-on-write view of this disk.
inside() {
  local disk=$dir/$1 root=$dir/$1/root path
  hostname "h$1"
  mount --make-rprivate /
  # Some disks cannot be the upper layer of an overlay; memory can.
  layer "$disk" 2>/dev/null || { mount -t tmpfs tmpfs "$disk/layers"; layer "$disk"; }
  for path in dev proc run; do mount --rbind "/$path" "$root/$path" 2>/dev/null || true; done
  mount -t proc proc "$root/proc"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
  mkdir -p "$root/run/sshd" "$root/old"
  [ -e "$root/etc/nacre-test" ] || furnish "$1" "$root"
  cd "$root"
  pivot_root . old
  exec chroot . /bin/bash -c 'umount -l /old; /usr/sbin/sshd -f /etc/nacre-test/sshd_config & while :; do sleep 1000 & wait $!; done'
}

layer() {
  mkdir -p "$1/layers/upper" "$1/layers/work"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layers/upper,workdir=$1/layers/work" "$1/root"
}

furnish() {
  local keys=$2/etc/nacre-test id=61800 user program
  mkdir -p "$keys"
  cp "$dir/$1/host_key" "$keys/"
  chmod 600 "$keys/host_key"
  rm -rf "$2/root/.cache/nacre" 2>/dev/null || true
  for user in dev loud posix; do
    id=$((id + 1))
    echo "$user:x:$id:$id::/home/$user:$([ "$user" = posix ] && echo /bin/sh || echo /bin/bash)" >>"$2/etc/passwd"
    echo "$user:*:19000:0:99999:7:::" >>"$2/etc/shadow"
    mkdir -p "$2/home/$user"
    chown "$id:$id" "$2/home/$user"
  done
  # sshd refuses locked accounts.
  sed -i 's/^root:[^:]*:/root:*:/' "$2/etc/shadow"
  grep -q '^sshd:' "$2/etc/passwd" || echo 'sshd:x:61800:65534::/run/sshd:/usr/sbin/nologin' >>"$2/etc/passwd"
  printf 'echo "Welcome! 3 updates are available."; sleep 0.2; export COLOR=grey SERVICE_TOKEN=far-value-1\n' >"$2/home/loud/.bashrc"
  cp "$dir/id.pub" "$keys/authorized"
  printf '%s\n' 'Port 22' 'HostKey /etc/nacre-test/host_key' 'UsePAM no' 'MaxStartups 100' 'MaxSessions 100' \
    'AuthorizedKeysFile /etc/nacre-test/authorized' 'PasswordAuthentication no' 'PermitRootLogin yes' 'PidFile none' >"$keys/sshd_config"
  for program in $(cat "$dir/$1/without" 2>/dev/null); do
    for path in /usr/local/bin /usr/bin /bin /usr/sbin; do rm -f "$2$path/$program"; done
  done
}

start() {
  local link=n${name}v$1 outer inner=
  alive "$1" && return
  ip link del "$link" 2>/dev/null || true
  setsid unshare --mount --pid --net --uts --ipc --fork --kill-child "$0" inside "$dir" "$1" </dev/null >"$dir/$1/log" 2>&1 &
  outer=$!
  for _ in $(seq 200); do
    inner=$(tr -d ' ' <"/proc/$outer/task/$outer/children" 2>/dev/null || true)
    [ -z "$inner" ] || break
    sleep 0.02
  done
  echo "$inner $(sed 's/.*) //' "/proc/$inner/stat" | cut -d' ' -f20)" >"$dir/$1/pid"
  ip link add "$link" type veth peer name eth0 netns "$inner"
  ip link set "$link" master "n$name" up
  nsenter -t "$inner" -n ip link set lo up
  nsenter -t "$inner" -n ip addr add "$net.$((10 + $1))/24" dev eth0
  nsenter -t "$inner" -n ip link set eth0 up
}

# A machine that was off has another hardware address.
forget_addresses() { ip neigh flush dev "n$name" 2>/dev/null || true; }

answers() {
  for _ in $(seq 200); do
    if timeout 1 bash -c "exec 3<>/dev/tcp/$net.$((10 + $1))/22 && read -r -t 1 -u 3" 2>/dev/null; then return; fi
    sleep 0.05
  done
  cat "$dir/$1/log" >&2
  echo "machine h$1 does not answer" >&2
  exit 1
}

up() {
  local count=$1 index pair
  shift
  mkdir -p "$dir"
  ssh-keygen -q -t ed25519 -N '' -f "$dir/id"
  ip link add "n$name" type bridge
  ip addr add "$net.1/24" dev "n$name"
  ip link set "n$name" up
  for index in $(seq "$count"); do
    mkdir -p "$dir/$index/root" "$dir/$index/layers"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/$index/host_key"
    for pair in "$@"; do [ "${pair%%:*}" != "$index" ] || echo "${pair#*:}" >>"$dir/$index/without"; done
    echo "$net.$((10 + index)) $(cut -d' ' -f1,2 "$dir/$index/host_key.pub")" >>"$dir/known_hosts"
    printf 'Host h%s\n  HostName %s\nHost h%s-by-h1\n  HostName %s\n  ProxyJump h1\n' "$index" "$net.$((10 + index))" "$index" "$net.$((10 + index))" >>"$dir/config"
    start "$index"
  done
  printf 'Host unknown\n  HostName %s\n  UserKnownHostsFile /dev/null\n' "$net.11" >>"$dir/config"
  printf 'Host *\n  User dev\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n' "$dir/id" "$dir/known_hosts" >>"$dir/config"
  for index in $(seq "$count"); do answers "$index"; done
}

off() {
  alive "$1" || return 0
  kill -KILL "$(cut -d' ' -f1 "$dir/$1/pid")"
  while alive "$1"; do sleep 0.02; done
}

case $verb in
  inside) inside "$3" ;;
  up) up "${@:3}" ;;
  cut) ip link set "n${name}v$3" down ;;
  heal) ip link set "n${name}v$3" up; forget_addresses; answers "$3" ;;
  off) off "$3" ;;
  on) start "$3"; forget_addresses; answers "$3" ;;
  down)
    for path in "$dir"/*/pid; do [ ! -e "$path" ] || off "$(basename "$(dirname "$path")")"; done
    for path in $(ip -o link show | grep -o "n${name}v[0-9]*" | sort -u); do ip link del "$path" 2>/dev/null || true; done
    ip link del "n$name" 2>/dev/null || true
    rm -rf --one-file-system "$dir"
    ;;
esac
