// Looks for bash while this process has no free descriptor.
import { closeSync, openSync } from 'node:fs';
import { NacreError } from '../../src/contract/failure.ts';
import { findBash } from '../../src/worker/machine/bash.ts';

const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // EMFILE: all descriptors are in use.
}
const found: unknown = await findBash('/bin/bash', '').catch((error: unknown) => error);
for (const fd of taken) closeSync(fd);
const { message, hint } = found instanceof NacreError ? found : { message: String(found), hint: undefined };
console.log(JSON.stringify({ message, hint }));
