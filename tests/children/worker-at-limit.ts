// Starts the detached worker while this process has too few free descriptors for its pipes.
import { closeSync, mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NacreError } from '../../src/contract/failure.ts';
import { openWorker } from '../../src/worker/host/start-worker.ts';

const root = mkdtempSync(join(tmpdir(), 'worker-'));
const place = { root, build: 'test', program: process.argv[1] ?? '', environment: { PATH: '/usr/bin:/bin' } };
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // EMFILE: all descriptors are in use.
}
for (const fd of taken.splice(-2)) closeSync(fd);
let workers = 0;
const error: unknown = await openWorker(place, () => {
  workers += 1;
}).catch((cause: unknown) => cause);
for (const fd of taken) closeSync(fd);
console.log(JSON.stringify({ error: error instanceof NacreError ? error.message : String(error), workers }));
