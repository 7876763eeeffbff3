import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs to leave out of a `PATH`, or to replace by ones that always fail. */
export interface Without {
  readonly hidden?: readonly string[];
  readonly broken?: readonly string[];
}

/** Creates a folder below `home` with links to all programs of /usr/bin except some, for use as `PATH`. */
export function pathWithout(home: string, { hidden = [], broken = [] }: Without): string {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const left = readdirSync('/usr/bin').filter((name) => !hidden.includes(name) && !broken.includes(name));
  for (const name of left) symlinkSync(join('/usr/bin', name), join(bin, name));
  for (const name of broken)
    writeFileSync(join(bin, name), '#!/bin/sh\necho "$0: not permitted" >&2\nexit 1\n', { mode: 0o755 });
  return bin;
}
