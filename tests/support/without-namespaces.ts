// Inside a new user namespace the sysctl can be set without affecting the machine; `setpriv` then drops all capabilities.
const deny = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"';

/** A command line that runs the rest of it where the kernel forbids user namespaces. */
export const withoutNamespaces: readonly string[] = [
  ...['unshare', '--user', '--map-current-user', '--keep-caps', 'bash', '-c', deny],
  ...['setpriv', '--ambient-caps=-all', '--inh-caps=-all', '--bounding-set=-all'],
];
