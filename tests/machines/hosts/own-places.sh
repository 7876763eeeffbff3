# Sourced by the first process of an engine's namespaces: /run, /etc, /opt and /var/lib become private, and end with it.
export PATH="$PATH:/usr/sbin:/sbin"
mount --make-rslave /
mount -t proc proc /proc
exec 8<"$folder"
mount -t tmpfs -o mode=755 tmpfs /run
for path in /etc /opt /var/lib; do
  mkdir -p "/run/layers$path/upper" "/run/layers$path/work"
  mount -t overlay overlay -o "lowerdir=$path,upperdir=/run/layers$path/upper,workdir=/run/layers$path/work" "$path"
done
# `folder` stays what it is, wherever it lies.
mount --bind /proc/self/fd/8 "$folder"
exec 8<&-
cd /
ip link set lo up
