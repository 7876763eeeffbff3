/** A script that tries to write to the file `a` of a workspace, and not to the layer over it, in every way that is known. */
export function waysAroundLayer(workspace: string): string {
  const ways = [
    'echo 1 > a; rm b; chmod 600 .',
    `umount ${workspace}; umount -l ${workspace}; echo 2 > ${workspace}/a`,
    `unshare -Urm bash -c 'umount -l ${workspace}; mount --bind / /mnt && echo 3 > /mnt${workspace}/a'`,
    `unshare -m bash -c 'umount -l ${workspace}; echo 3 > ${workspace}/a'`,
    `for p in /proc/[0-9]*; do echo 4 > $p/root${workspace}/a; echo 4 > $p/cwd/a; done`,
    'for f in /proc/self/fd/* /proc/[0-9]*/fd/*; do echo 5 > "$f/a"; echo 5 > "$f/../a"; done',
    `for p in /proc/[0-9]*; do nsenter -t \${p#/proc/} -m sh -c 'umount -l ${workspace}; echo 6 > ${workspace}/a'; done`,
    `for p in /proc/[0-9]*; do nsenter -t \${p#/proc/} -U -m sh -c 'umount -l ${workspace}; echo 6 > ${workspace}/a'; done`,
    `mkdir -p /tmp/x; mount --bind ${workspace} /tmp/x; echo 7 > /tmp/x/a`,
    `(sleep 0.3; echo 8 > ${workspace}/a) & disown`,
  ];
  return `{ ${ways.join('\n')}\n} 2>/dev/null`;
}
