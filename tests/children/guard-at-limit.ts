// Tests the guard at PATH while this process has no free descriptor, and again once it has some: node FILE PATH
import { closeSync, openSync } from 'node:fs';
import { NacreError } from '../../src/contract/failure.ts';
import { probeGuard } from '../../src/worker/guard/create-guard.ts';

const [path = ''] = process.argv.slice(2);
const probe = () =>
  probeGuard(path, { execute: [] }, { bashPath: '/bin/bash', script: 'true', words: [] }).then(
    () => 'answered',
    (error: unknown) => (error instanceof NacreError ? error.code : String(error)),
  );
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // EMFILE: all descriptors are in use.
}
const starved = await probe();
for (const fd of taken) closeSync(fd);
console.log(JSON.stringify({ starved, next: await probe() }));
