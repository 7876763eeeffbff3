/** A script that starts seven descendants, each of which tries to outlive it in a different way and sleeps `label` seconds. */
export function startDescendants(label: string): string {
  return [
    `sleep ${label} &`,
    `(sleep ${label} &)`,
    `setsid sleep ${label} &`,
    `( (setsid sleep ${label} &) & )`,
    `nohup sleep ${label} > /dev/null 2>&1 & disown`,
    `bash -c 'trap "" TERM INT HUP; while :; do sleep ${label}; done' &`,
    // `env -i` also removes the variables by which nacre recognises its processes.
    `env -i PATH="$PATH" setsid bash -c "(sleep ${label} > /dev/null 2>&1 < /dev/null &)" &`,
  ].join('\n');
}
