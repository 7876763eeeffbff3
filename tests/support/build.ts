import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The command line as it is shipped. */
export const builtCli = `${root}dist/cli.js`;

/** The guard as it is shipped. */
export const builtGuard = `${root}dist/exec-guard.js`;

/** Builds dist/ once before the tests, for those that start the real thing. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root });
}
