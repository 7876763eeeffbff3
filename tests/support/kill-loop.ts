// A client that works while it, its server, or both are killed at random moments, and that checks every byte, exit code and
// shell that it finds again:
// 1. twenty commands write numbered lines, at 1 kB/s to 50 MB/s; one that has ended is checked and replaced,
// 2. a persistent shell counts calls, and a terminal answers what is typed,
// 3. a call that was cut off by a kill may have had its effect or not, but never twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sleep } from '../../src/support/timing.ts';
import { builtCli } from './build.ts';
import { createWriter, firstDifference, type Writer } from './numbered-lines.ts';
import type { OutliveClient, OutliveHome } from './outlive.ts';

/** Numbers of a loop, for its report. */
export interface KillCounts {
  readonly kills: Record<'server' | 'client' | 'both', number>;
  started: number;
  ended: number;
  checkedBytes: number;
  typed: number;
  shellCalls: number;
  /** How often a new connection had to ask more than once for the commands of the last one. */
  lateTakeUps: number;
}

interface Running {
  readonly writer: Writer;
  /** False while the reply to its start is missing. */
  isKnown: boolean;
  cursor: number;
}

interface Listed {
  readonly name: string;
  readonly status: string;
  readonly exit_code: number | null;
}

const commandCount = 20;
const [slowest, fastest] = [1_000, 50_000_000];
const maxBytes = 48_000_000;
// A read of more characters is cut in the middle.
const maxChars = 200_000;
const findMs = 60_000;

/** The work of one client across all its connections. */
export class KillLoop {
  readonly counts: KillCounts = {
    ...{ kills: { server: 0, client: 0, both: 0 }, started: 0, ended: 0, checkedBytes: 0 },
    ...{ typed: 0, shellCalls: 0, lateTakeUps: 0 },
  };
  /** The names of the commands whose end and output were checked. */
  readonly checked = new Set<string>();
  readonly #home: OutliveHome;
  readonly #running = new Map<string, Running>();
  #shellCount = 0;
  /** Calls in the shell whose reply is missing. */
  #cutOffs = 0;
  #isTerminalOpen = false;
  #created = 0;

  constructor(home: OutliveHome) {
    this.#home = home;
  }

  /** Works until `delayMs` have passed, then kills. */
  async round(delayMs: number, victim: 'server' | 'client' | 'both'): Promise<void> {
    const client = await this.#home.openClient();
    const working = this.#work(client).then(
      () => new Error('The work has ended.'),
      (error: unknown) => error,
    );
    const early = await Promise.race([working, sleep(delayMs)]);
    await client.killAs(victim);
    this.counts.kills[victim] += 1;
    const error = early ?? (await working);
    if (!isEnded(error)) throw error;
  }

  /** Waits until all commands have ended and are checked, then ends the terminal. */
  async finish(): Promise<void> {
    const client = await this.#home.openClient();
    await this.#takeUp(client);
    await this.#useShell(client);
    if (this.#isTerminalOpen) await this.#useTerminal(client);
    while (this.#running.size > 0) {
      await this.#checkEnded(client);
      await sleep(200);
    }
    await client.call('stop_command', { command_id: 'terminal' });
    await client.leave();
  }

  async #work(client: OutliveClient): Promise<never> {
    await this.#takeUp(client);
    const steps = [
      () => this.#checkEnded(client),
      () => this.#startMissing(client),
      () => this.#useShell(client),
      () => this.#useTerminal(client),
      () => this.#readOn(client),
    ];
    for (;;) await steps[Math.floor(Math.random() * steps.length)]?.();
  }

  // The server of a killed client may still be ending; what it has is found when it is gone.
  async #takeUp(client: OutliveClient): Promise<void> {
    const deadline = performance.now() + findMs;
    for (;;) {
      const names = new Set((await list(client)).map(({ name }) => name));
      const known = [...this.#running.values()].filter(({ isKnown }) => isKnown);
      const wanted = known.map(({ writer }) => writer.name);
      if (this.#isTerminalOpen) wanted.push('terminal');
      const missing = wanted.filter((name) => !names.has(name));
      if (missing.length === 0) {
        for (const [name, one] of this.#running)
          if (names.has(name)) one.isKnown = true;
          else this.#running.delete(name);
        return;
      }
      this.counts.lateTakeUps += 1;
      if (performance.now() > deadline) throw new Error(`Not found again: ${missing.join(', ')}`);
      await sleep(50);
    }
  }

  async #startMissing(client: OutliveClient): Promise<void> {
    while (this.#running.size < commandCount) await this.#start(client);
  }

  async #start(client: OutliveClient): Promise<void> {
    const number = this.#created;
    this.#created += 1;
    const step = (number % commandCount) / (commandCount - 1);
    const writer = createWriter(`writer-${number}`, {
      bytesPerSecond: slowest * (fastest / slowest) ** step,
      ...{ seconds: 3 + Math.random() * 20, maxBytes, exitCode: number % 120 },
    });
    const running = { writer, isKnown: false, cursor: 0 };
    this.#running.set(writer.name, running);
    const { name, command } = writer;
    const reply = await client.call('start_command', { command, name, wait_ms: 0 });
    if (!reply.includes(`name: "${name}"`)) throw new Error(`It was not started: ${reply}`);
    running.isKnown = true;
    this.counts.started += 1;
  }

  async #checkEnded(client: OutliveClient): Promise<void> {
    for (const { name, status, exit_code } of await list(client)) {
      const running = this.#running.get(name);
      if (!running || this.checked.has(name) || status === 'running') continue;
      const { exitCode } = running.writer;
      if (exit_code !== exitCode || status !== (exitCode === 0 ? 'completed' : 'failed'))
        throw new Error(`${name} is ${status} with ${exit_code} instead of ${exitCode}.`);
      await this.#checkLog(client, running.writer);
      this.checked.add(name);
      this.#running.delete(name);
      this.counts.ended += 1;
    }
  }

  async #checkLog(client: OutliveClient, writer: Writer): Promise<void> {
    const { environment, project } = this.#home;
    const logs = spawn(process.execPath, [builtCli, 'logs', writer.name], {
      ...{ cwd: project, env: environment, stdio: ['ignore', 'pipe', 'ignore'] },
    });
    let at = 0;
    for await (const piece of logs.stdout) {
      const data = (piece as Buffer).toString('latin1');
      const wrong = firstDifference(writer, at, data);
      if (wrong !== undefined) throw new Error(`${writer.name} differs at byte ${wrong}.`);
      at += data.length;
    }
    if (logs.exitCode === null) await once(logs, 'exit');
    // A kill cuts off `nacre logs`, too, if the server sends it the output.
    if (logs.exitCode !== 0) await list(client);
    if (logs.exitCode !== 0 || at !== writer.totalBytes)
      throw new Error(`${writer.name} has ${at} of ${writer.totalBytes} bytes, exit ${logs.exitCode}.`);
    this.counts.checkedBytes += at;
  }

  async #useShell(client: OutliveClient): Promise<void> {
    const [least, most] = [this.#shellCount + 1, this.#shellCount + 1 + this.#cutOffs];
    this.#cutOffs += 1;
    const reply = await client.call('Bash', { command: 'count=$((count + 1)); echo "count $count"' });
    const count = Number(/count (\d+)/.exec(reply)?.[1]);
    if (!(count >= least && count <= most))
      throw new Error(`The shell counts ${count} instead of ${least} to ${most}: ${reply}`);
    this.#shellCount = count;
    this.#cutOffs = 0;
    this.counts.shellCalls += 1;
  }

  async #useTerminal(client: OutliveClient): Promise<void> {
    if (!this.#isTerminalOpen) await this.#openTerminal(client);
    this.counts.typed += 1;
    const text = `t${this.counts.typed}`;
    const typed = { command_id: 'terminal', text, keys: ['Enter'], wait_for: `got ${text}\\b` };
    const reply = await client.call('write_input', { ...typed, wait_ms: 30_000 });
    if (!reply.includes(`got ${text}`)) throw new Error(`The terminal has not answered ${text}: ${reply}`);
    const screen = await client.use('read_output', { command_id: 'terminal', view: 'screen', wait_ms: 0 });
    if (!String(screen.structured.screen).includes(`got ${text}`))
      throw new Error(`The screen does not show ${text}: ${screen.text}`);
  }

  async #openTerminal(client: OutliveClient): Promise<void> {
    const isListed = (await list(client)).some(({ name }) => name === 'terminal');
    const command = 'while read -r x; do echo "got $x"; done';
    if (!isListed) await client.call('start_command', { command, name: 'terminal', pty: true, wait_ms: 0 });
    this.#isTerminalOpen = true;
  }

  // Reads on from the last cursor, as far as one reply has everything.
  async #readOn(client: OutliveClient): Promise<void> {
    for (const running of this.#running.values()) {
      const { writer, cursor } = running;
      const query = { command_id: writer.name, cursor, wait_ms: 0, view: 'raw', max_output_chars: maxChars };
      const { structured } = await client.use('read_output', query);
      const text = String(structured.stdout ?? '');
      if (structured.left_out_from !== undefined || structured.truncated === true) continue;
      const wrong = firstDifference(writer, cursor, text);
      if (wrong !== undefined) throw new Error(`${writer.name} differs at byte ${wrong} when it is read on.`);
      running.cursor = cursor + text.length;
      this.counts.checkedBytes += text.length;
    }
  }
}

async function list(client: OutliveClient): Promise<readonly Listed[]> {
  const { structured } = await client.use('list_commands', {});
  return structured.commands as readonly Listed[];
}

function isEnded(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('The server has ended.');
}
