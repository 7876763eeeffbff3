// dist/worker.js: `ROOT BUILD` runs the detached worker, `attach ROOT BUILD` connects stdin and stdout to it.
import { closeSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureOwnerAccess } from './support/umask.ts';
import { attachWorker } from './worker/host/attach-worker.ts';
import { runWorker } from './worker/host/run-worker.ts';

ensureOwnerAccess();
const words = process.argv.slice(2);
if (words[0] === 'attach') await attach(words.slice(1));
else await run(words);

async function attach([root = '', build = '']: readonly string[]): Promise<void> {
  const program = fileURLToPath(import.meta.url);
  const place = { root, build, program, environment: ownEnvironment(), passesAll: true };
  try {
    await attachWorker(place, process.stdin, process.stdout);
    process.exit();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

async function run([root = '', build = '']: readonly string[]): Promise<void> {
  await runWorker({
    root,
    build,
    environment: ownEnvironment(),
    execGuard: fileURLToPath(new URL('./exec-guard.js', import.meta.url)),
    report(line) {
      // The process that started it may be gone.
      try {
        writeSync(1, `${line}\n`);
        closeSync(1);
      } catch {}
    },
    // `start-worker.ts` passes `--expose-gc`.
    collectGarbage: () => globalThis.gc?.(),
    exit: () => process.exit(),
  });
}

// `MALLOC_*` is for this process only (`start-worker.ts`), not for commands.
function ownEnvironment(): Readonly<Record<string, string>> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('MALLOC_'));
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
