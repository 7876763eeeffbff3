import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The built command line. */
export const builtCli = `${root}dist/cli.js`;

/** The built `exec-guard.js`. */
export const builtGuard = `${root}dist/exec-guard.js`;

/** Builds dist/ once before all tests, for those that start the built command line. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root });
}
