// Runs many commands concurrently under a low RLIMIT_NOFILE.
import { closeSync, mkdirSync, openSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../../src/contract/failure.ts';
import { openDescriptors } from '../support/processes.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

const here = createTestWorker();
const mark = process.argv[2] ?? '';
await here.run('true');
const before = openDescriptors();
// Commands run until this folder is gone, so that descriptors run out no matter how long the starts take.
const go = join(here.folder, 'go');
mkdirSync(go);
const started = await Promise.all(
  Array.from({ length: 40 }, (_, index) => {
    const wait = `while [ -d '${go}' ]; do sleep 0.05; done; echo done`;
    const script = index % 2 === 0 ? wait : `sleep 50 & ${wait}`;
    const timeoutMs = index % 3 === 0 ? 100 : null;
    return here.start(script, { env: { TEST_MARK: mark }, timeoutMs }).catch((error: unknown) => error);
  }),
);
// Every timeout of 100 ms fires before this.
await new Promise((resolve) => setTimeout(resolve, 300));
rmdirSync(go);
const results = await Promise.all(
  started.map(async (id) => {
    if (typeof id === 'string') return (await here.worker.wait(id, 20_000)).status;
    return id instanceof NacreError ? id.code : String(id);
  }),
);
const count = (wanted: string) => results.filter((result) => result === wanted).length;

// The commands below run while this process has no free descriptor.
const scripts = ['sleep 51 & sleep 0.3; echo done', 'sleep 52'];
const ids = await Promise.all(
  scripts.map((script) => here.start(script, { env: { TEST_MARK: mark }, timeoutMs: 600 })),
);
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // EMFILE: all descriptors are in use.
}
const starved = await Promise.all(ids.map((id) => here.worker.wait(id, 8_000)));
for (const fd of taken) closeSync(fd);

for (const { id } of await here.worker.list()) await here.worker.dispose(id);
const after = await here.run('echo works');
report({
  completed: count('completed'),
  timeout: count('timeout'),
  unavailable: count('resources_unavailable'),
  other: results.filter((one) => !['completed', 'timeout', 'resources_unavailable'].includes(one)),
  starved: starved.map(({ status }) => status),
  leaked: openDescriptors() - before,
  after: after.stdout,
});
await here.close();
