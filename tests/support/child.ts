import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Options of `runChild`. */
export interface ChildOptions {
  /** Arguments of bash's `ulimit`, such as `-n 64`. */
  readonly ulimits?: readonly string[];
  readonly args?: readonly string[];
}

/**
 * Runs a file of tests/children in a separate Node process, so that limits and crashes do not affect other tests, and
 * returns the JSON that it prints last. Rejects if it fails.
 */
export async function runChild(
  name: string,
  { ulimits = [], args = [] }: ChildOptions = {},
): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'nacre-child-'));
  // The child may change its uid, so its `TMPDIR` must be writable by every user.
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  chmodSync(folder, 0o755);
  chmodSync(temporary, 0o1777);
  const file = join(folder, `${name}.mjs`);
  try {
    await buildChild(name, file);
    const script = [...ulimits.map((limit) => `ulimit ${limit}`), 'exec "$@"'].join(' && ');
    const words = ['-c', script, 'child', process.execPath, file, ...args];
    const env = { ...process.env, TMPDIR: temporary, NACRE_TEST_ROOT: root };
    const { stdout } = await run('bash', words, { env, timeout: 60_000, killSignal: 'SIGKILL' });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bundles a file of tests/children with everything that it imports. */
export async function buildChild(name: string, outfile: string): Promise<void> {
  const entryPoints = [join(root, 'tests/children', `${name}.ts`)];
  await build({
    ...{ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node' },
    // Bundled CommonJS packages call `require` for the modules of Node.js.
    banner: {
      js: "import { createRequire as toRequire } from 'node:module'; globalThis.require = toRequire(import.meta.url);",
    },
  });
}
