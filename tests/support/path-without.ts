import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs that a PATH does not have, or has in a form that always fails. */
export interface Without {
  readonly hidden?: readonly string[];
  readonly broken?: readonly string[];
}

/** A PATH of one folder below `home`, with everything that the system has but for some programs. */
export function pathWithout(home: string, { hidden = [], broken = [] }: Without): string {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const left = readdirSync('/usr/bin').filter((name) => !hidden.includes(name) && !broken.includes(name));
  for (const name of left) symlinkSync(join('/usr/bin', name), join(bin, name));
  for (const name of broken)
    writeFileSync(join(bin, name), '#!/bin/sh\necho "$0: not permitted" >&2\nexit 1\n', { mode: 0o755 });
  return bin;
}
