import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { collect } from './nacre.ts';
import { cliFor, type User } from './users.ts';

/** Commands, or a machine report if `scripts` is absent, of one nacre with its own settings. */
export interface Step {
  readonly settings?: object;
  readonly path?: string;
  readonly scripts?: readonly string[];
}

/** The outcomes or the report of one step, or its error. */
export interface StepResult {
  readonly outcomes: readonly { stdout: string; stderr: string; warnings: readonly string[] }[];
  readonly report: { supervision?: string; sandbox?: string; gaps: readonly string[] };
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

/** Runs steps one after the other in one server process, since most of the time of a step is the start of Node. */
const server = `const { createNacre } = await import(process.argv[1]);
process.env.SERVER = String(process.pid);
for (const { settings, path = process.env.PATH, scripts } of JSON.parse(process.argv[2])) {
  const nacre = await createNacre({ loginEnv: 'never', ...settings }, { env: { ...process.env, PATH: path } });
  const result = { outcomes: [] };
  try {
    if (!scripts) result.report = await nacre.report();
    for (const script of scripts ?? []) result.outcomes.push(await nacre.run(script));
  } catch ({ code, hint, message }) {
    result.error = { code, hint, message };
  }
  console.log(JSON.stringify(result));
  await nacre.close();
}`;

/** The home directory of one user, with a project in it. */
export interface Home {
  home: string;
  project: string;
  cli: string;
  identity: { uid?: number; gid?: number };
}

/** A home directory for all tests of one user. Not below /tmp, because a sandbox mounts its own /tmp. */
export function createHome(user: User): Home {
  const home = mkdtempSync('/var/tmp/nacre-isolation-');
  const { cli, identity } = cliFor(user, home);
  const project = join(home, 'project');
  mkdirSync(project);
  own(identity, project);
  return { home, project, cli, identity };
}

/** Gives files to the user of a `Home`. */
export function own({ uid }: { readonly uid?: number }, ...paths: readonly string[]): void {
  if (uid !== undefined) for (const path of paths) chownSync(path, uid, uid);
}

/** Runs steps in one server process of the user; `prefix` is a command that starts it. */
export async function runSteps(
  { home, project, cli, identity }: Home,
  steps: readonly Step[],
  prefix: readonly string[] = [],
): Promise<readonly StepResult[]> {
  const library = pathToFileURL(join(dirname(cli), 'index.js')).href;
  const node = [process.execPath, '--input-type=module', '-e', server, library, JSON.stringify(steps)];
  // The server inherits an extra file descriptor, 9.
  const child = spawn('bash', ['-c', 'exec 9< /etc/passwd; exec "$@"', 'bash', ...prefix, ...node], {
    env: { PATH: process.env.PATH ?? '', HOME: home, SECRET_TOKEN: 'server-secret' },
    cwd: project,
    ...identity,
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  await once(child, 'close');
  const lines = out.text().trim().split('\n');
  expect(lines, err.text()).toHaveLength(steps.length);
  return lines.map((line) => JSON.parse(line));
}
