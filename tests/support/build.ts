import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// A child of `runChild` is one bundled file in another folder, so it receives the root as a parameter.
const root = process.env.NACRE_TEST_ROOT ?? fileURLToPath(new URL('../..', import.meta.url));

/** The built command line. */
export const builtCli = `${root}dist/cli.js`;

/** The built library. */
export const builtLibrary = `${root}dist/index.js`;

/** The built `exec-guard.js`. */
export const builtGuard = `${root}dist/exec-guard.js`;

/** The built program of the detached worker. */
export const builtWorker = `${root}dist/worker.js`;

const script = "import { buildIfChanged } from './scripts/set-up.mjs'; await buildIfChanged();";

/** Builds dist/ once before all tests if it is out of date, for those that start the built command line. */
export default function build(): void {
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
}
