import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtCli } from '../support/build.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A home directory for one run of a client, with a project in it. */
export interface Place {
  readonly home: string;
  readonly project: string;
  /** The address of the scripted model. */
  readonly modelUrl: string;
  /** The environment of the client, without the variables of its driver. */
  readonly env: Readonly<Record<string, string>>;
}

// `touch` needs approval and `curl` is refused, so that no test has to run a dangerous command.
const settings = `allowed_commands: "*"
tools: [terminal, bash]
login_env: never
policy:
  - verdict: ask
    program: touch
    reason: New files need approval.
    examples: { matches: ["touch made"], spares: ["ls made"] }
  - verdict: deny
    program: curl
    reason: Downloads are not allowed here.
    examples: { matches: ["curl http://127.0.0.1:1/"], spares: ["ls"] }
`;

/** Creates a home directory with nacre's settings. */
export function createPlace(modelUrl: string): Place {
  const home = temporaryFolder();
  const project = join(home, 'project');
  mkdirSync(project);
  writeIn(home, '.config/nacre/config.yaml', settings);
  const env = { PATH: process.env.PATH ?? '', HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  return { home, project, modelUrl, env };
}

/** Adds nacre to the client's configuration, as a user does; returns what `nacre init` prints. */
export function initClient({ project, env }: Place, client: string): string {
  const words = [builtCli, 'init', client, '--yes'];
  return execFileSync(process.execPath, words, { cwd: project, env, encoding: 'utf8' });
}

/** Writes a file below a folder; anything but text is written as JSON. */
export function writeIn(folder: string, name: string, content: unknown): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}
