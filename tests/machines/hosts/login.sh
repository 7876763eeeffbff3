#!/usr/bin/env bash
# login.sh FOLDER PORT VARIABLE...: an sshd on loopback for root, whose sessions have the variables, as the first process of namespaces of its own.
# FOLDER/config is for ssh -F.
set -euo pipefail
umask 022
folder=$1 port=$2
shift 2
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd
# sshd refuses locked accounts.
sed 's/^root:[^:]*:/root:*:/' /etc/shadow >/run/shadow
mount --bind /run/shadow /etc/shadow
mkdir -m 700 "$folder"
for name in id host_key; do ssh-keygen -q -t ed25519 -N '' -f "$folder/$name"; done
printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $folder/host_key" "AuthorizedKeysFile $folder/id.pub" 'UsePAM no' \
  'StrictModes no' 'PasswordAuthentication no' 'PermitRootLogin yes' 'PidFile none' "SetEnv $*" >"$folder/sshd_config"
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$folder/host_key.pub")" >"$folder/known_hosts"
printf '%s\n' 'Host login1' '  HostName 127.0.0.1' "  Port $port" '  User root' "  IdentityFile $folder/id" '  IdentitiesOnly yes' \
  "  UserKnownHostsFile $folder/known_hosts" >"$folder/config"
exec /usr/sbin/sshd -D -f "$folder/sshd_config"
