/** A script that starts seven descendants; each tries in its own way to outlive it, and sleeps for `label` seconds. */
export function startDescendants(label: string): string {
  return [
    `sleep ${label} &`,
    `(sleep ${label} &)`,
    `setsid sleep ${label} &`,
    `( (setsid sleep ${label} &) & )`,
    `nohup sleep ${label} > /dev/null 2>&1 & disown`,
    `bash -c 'trap "" TERM INT HUP; while :; do sleep ${label}; done' &`,
    // This one also forgets where it came from.
    `env -i PATH="$PATH" setsid bash -c "(sleep ${label} > /dev/null 2>&1 < /dev/null &)" &`,
  ].join('\n');
}
