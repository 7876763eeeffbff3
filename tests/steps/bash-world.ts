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

/** What of quickpickle's own world is used here; its types do not resolve under Node's rules for modules. */
interface OwnWorld {
  init(): Promise<void>;
  tagsMatch(tags: readonly string[]): readonly string[] | null;
}

const World = QuickPickleWorld as new (...given: unknown[]) => OwnWorld;

/** What the steps of one scenario share: a nacre in a folder of its own, and what came of the last step. */
export class BashWorld extends World {
  readonly place = createPlace(offline);
  /** Stands for /home/user. */
  readonly home = join(this.place.cwd, 'home');
  /** Stands for /tmp. */
  readonly temporary = join(this.place.cwd, 'tmp');
  context: ExecutionContext = { workingDir: this.home };
  registry = new ToolRegistry();
  results: ToolResult[] = [];
  shells: ShellProcess[] = [];
  /** What a call of the manager or of a shell returned. */
  returned: unknown;
  /** Managers and shells that the words call A and B. */
  readonly managers: Record<string, ShellManager> = {};
  readonly named: Record<string, ShellProcess> = {};
  #nacre: Nacre<'all'> | undefined;

  override async init(): Promise<void> {
    for (const folder of [this.home, this.temporary]) mkdirSync(folder, { recursive: true });
    this.#nacre = await createNacre(
      { tools: ['all'], allowedCommands: ['*'], loginEnv: 'never' },
      { ...this.place, cwd: this.home },
    );
  }

  get nacre(): Nacre<'all'> {
    if (this.#nacre === undefined) throw new Error('There is no nacre yet.');
    return this.#nacre;
  }

  get result(): ToolResult {
    const last = this.results.at(-1);
    if (last === undefined) throw new Error('No tool was executed yet.');
    return last;
  }

  get shell(): ShellProcess {
    const last = this.shells.at(-1);
    if (last === undefined) throw new Error('There is no shell yet.');
    return last;
  }

  /** Puts this scenario's folders and shell in the place of those that the words name. */
  toOwn(words: string): string {
    const own = words.replaceAll('/home/user', this.home).replace(/(?<![\w/])\/tmp\b/g, this.temporary);
    return own.includes('{shell_id}') ? own.replaceAll('{shell_id}', this.shell.id) : own;
  }

  /** Executes a tool with an input in words, and keeps the result. */
  async execute(
    tool: string,
    words: Readonly<Record<string, string>>,
    context = this.context,
  ): Promise<ToolResult> {
    const entries = Object.entries(words).map(([name, value]) => [name, toValue(name, this.toOwn(value))]);
    const result = await this.nacre.registry.execute(tool, Object.fromEntries(entries), context);
    this.results.push(result);
    return result;
  }

  /** Starts a background shell through the tool. */
  async start(command: string, more: Readonly<Record<string, string>> = {}): Promise<ShellProcess> {
    const { success, error, metadata } = await this.nacre.registry.execute(
      'Bash',
      { command, run_in_background: true, ...more },
      this.context,
    );
    expect(success, error).toBe(true);
    const shell = await ShellManager.getShell(String(metadata.bash_id));
    if (shell === null) throw new Error(`The manager does not know ${metadata.bash_id}.`);
    this.shells.push(shell);
    return shell;
  }
}

// The only registry is one that does not answer.
const offline = {
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  npm_config_offline: 'true',
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
};

function toValue(name: string, words: string): unknown {
  if (name === 'timeout') return Number(words);
  return name === 'run_in_background' ? words === 'true' : words;
}

setWorldConstructor(BashWorld);

After(async (world: BashWorld) => {
  await ShellManager.reset();
  await world.nacre.close();
  expect(await survivors(world.place.mark)).toEqual([]);
  rmSync(world.place.cwd, { recursive: true, force: true });
});
