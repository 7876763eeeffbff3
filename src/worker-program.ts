import { closeSync, writeSync } from 'node:fs';
import { ensureOwnerAccess } from './support/umask.ts';
import { runWorker } from './worker/host/run-worker.ts';

ensureOwnerAccess();
const [root = '', build = ''] = process.argv.slice(2);
await runWorker({
  root,
  build,
  report(line) {
    // The process that started it may be gone.
    try {
      writeSync(1, `${line}\n`);
      closeSync(1);
    } catch {}
  },
  exit: () => process.exit(),
});
