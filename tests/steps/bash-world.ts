import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { After, QuickPickleWorld, setWorldConstructor } from 'quickpickle';
import { expect } from 'vitest';
import {
  createNacre,
  type ExecutionContext,
  type Nacre,
  ShellManager,
  type ShellProcess,
  ToolRegistry,
  type ToolResult,
} from '../../src/index.ts';
import { createPlace, survivors } from '../support/nacre.ts';

/** The used part of `QuickPickleWorld`, whose own types do not resolve with `moduleResolution: nodenext`. */
interface BaseWorld {
  init(): Promise<void>;
  tagsMatch(tags: readonly string[]): readonly string[] | null;
}

const World = QuickPickleWorld as new (...args: unknown[]) => BaseWorld;

/** State that the steps of one scenario share: a nacre instance in its own folder, and the results so far. */
export class BashWorld extends World {
  readonly place = createPlace(offline);
  /** Replaces /home/user. */
  readonly home = join(this.place.cwd, 'home');
  /** Replaces /tmp. */
  readonly temporary = join(this.place.cwd, 'tmp');
  context: ExecutionContext = { workingDir: this.home };
  registry = new ToolRegistry();
  results: ToolResult[] = [];
  shells: ShellProcess[] = [];
  /** Return value of the last call of `ShellManager` or `ShellProcess`. */
  returned: unknown;
  /** Managers and shells that a scenario calls A and B. */
  readonly managers: Record<string, ShellManager> = {};
  readonly named: Record<string, ShellProcess> = {};
  #nacre: Nacre<'all'> | undefined;

  override async init(): Promise<void> {
    for (const folder of [this.home, this.temporary]) mkdirSync(folder, { recursive: true });
    this.#nacre = await createNacre(
      { tools: ['all'], allowedCommands: ['*'], loginEnv: 'never' },
      { env: this.place.env, cwd: this.home },
    );
  }

  get nacre(): Nacre<'all'> {
    if (this.#nacre === undefined) throw new Error('init was not called yet.');
    return this.#nacre;
  }

  get result(): ToolResult {
    const last = this.results.at(-1);
    if (last === undefined) throw new Error('No tool was executed yet.');
    return last;
  }

  get shell(): ShellProcess {
    const last = this.shells.at(-1);
    if (last === undefined) throw new Error('No shell was started yet.');
    return last;
  }

  /** Replaces the folders and the shell id in a step's text with those of this scenario. */
  toOwn(text: string): string {
    const own = text.replaceAll('/home/user', this.home).replace(/(?<![\w/])\/tmp\b/g, this.temporary);
    return own.includes('{shell_id}') ? own.replaceAll('{shell_id}', this.shell.id) : own;
  }

  /** Executes a tool with input from a step's text, and stores the result. */
  async execute(
    tool: string,
    input: Readonly<Record<string, string>>,
    context = this.context,
  ): Promise<ToolResult> {
    const entries = Object.entries(input).map(([name, value]) => [name, toValue(name, this.toOwn(value))]);
    const result = await this.nacre.registry.execute(tool, Object.fromEntries(entries), context);
    this.results.push(result);
    return result;
  }

  /** Starts a background shell with the `Bash` tool. */
  async start(command: string, more: Readonly<Record<string, string>> = {}): Promise<ShellProcess> {
    const { success, error, metadata } = await this.nacre.registry.execute(
      'Bash',
      { command, run_in_background: true, ...more },
      this.context,
    );
    expect(success, error).toBe(true);
    const shell = await ShellManager.getShell(String(metadata.bash_id));
    if (shell === null) throw new Error(`ShellManager does not list ${metadata.bash_id}.`);
    this.shells.push(shell);
    return shell;
  }
}

// Port 9 refuses connections, so that npm stays off the network.
const offline = {
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  npm_config_offline: 'true',
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
};

function toValue(name: string, text: string): unknown {
  if (name === 'timeout') return Number(text);
  return name === 'run_in_background' ? text === 'true' : text;
}

setWorldConstructor(BashWorld);

After(async (world: BashWorld) => {
  await ShellManager.reset();
  await world.nacre.close();
  expect(await survivors(world.place.mark)).toEqual([]);
  rmSync(world.place.cwd, { recursive: true, force: true });
});
