// A home whose servers are killed and started again, by a client that speaks MCP over stdin and stdout.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { endWorkers, findWorkers } from '../../src/worker/host/end-workers.ts';
import { builtCli } from './build.ts';
import { processesWith } from './processes.ts';
import { temporaryFolder } from './temporary-folder.ts';

type Reply = {
  readonly instructions?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
};

const run = promisify(execFile);
const clientProgram = fileURLToPath(new URL('client-program.mjs', import.meta.url));

/** Options of `createOutliveHome`. */
export interface OutliveHomeOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The text of the user's settings file. */
  readonly userFile?: string;
  /** The home; a new folder by default. */
  readonly folder?: string;
  /** `dist/cli.js`, or that of another version. */
  readonly cli?: string;
  /** The user that servers and commands run as. */
  readonly uid?: number | undefined;
  /** The beginning of each command line, such as `withoutNamespaces`. */
  readonly within?: readonly string[];
}

/** Creates a home; everything that it started is ended with the test. */
export function createOutliveHome({
  env = {},
  userFile,
  folder = temporaryFolder(),
  cli = builtCli,
  uid,
  within = [],
}: OutliveHomeOptions = {}) {
  const project = join(folder, 'project');
  const state = join(folder, 'state');
  const mark = `OUTLIVE_TEST=${folder}`;
  const environment = {
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, OUTLIVE_TEST: folder, LANG: 'C.UTF-8' },
    ...{
      NACRE_STATE_DIR: state,
      NACRE_LOGIN_ENV: 'never',
      ALLOWED_COMMANDS: '*',
      NACRE_TOOLS: 'terminal,bash',
    },
    ...env,
  };
  mkdirSync(project, { recursive: true });
  if (userFile !== undefined) {
    mkdirSync(join(folder, '.config', 'nacre'), { recursive: true });
    writeFileSync(join(folder, '.config', 'nacre', 'config.yaml'), userFile);
  }
  const servers = new Set<ChildProcess>();
  onTestFinished(async () => {
    for (const child of servers) child.kill('SIGKILL');
    await endWorkers(state);
  });
  const options = { cwd: project, env: environment, ...(uid !== undefined && { uid, gid: uid }) };
  const start = (words: readonly string[], program: string = cli) => {
    const [first = '', ...rest] = [...within, process.execPath, program, ...words];
    const child = spawn(first, rest, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    servers.add(child);
    return child;
  };
  return {
    ...{ folder, project, state, mark, environment, start },
    /** Starts `nacre mcp` and introduces a client of this name. */
    open: (client = 'tester', program: string = cli) => converse(start(['mcp'], program), client),
    /** The same with a client that is a process of its own, which can be killed without its server. */
    openClient: (client = 'tester') => converse(start([process.execPath, cli, 'mcp'], clientProgram), client),
    /** Runs a command line; its output if it exits with 0. */
    async nacre(...words: readonly string[]): Promise<string> {
      const more = { ...options, encoding: 'utf8', maxBuffer: 1 << 28, timeout: 120_000 } as const;
      const [first = '', ...rest] = [...within, process.execPath, cli, ...words];
      return (await run(first, rest, more)).stdout;
    },
    workers: () => findWorkers(state),
    /** The processes that have the home's mark in their environment. A killed server's `mkfifo` may outlive it for a moment. */
    processes: () => processesWith(mark),
  };
}

/** A home of `createOutliveHome`. */
export type OutliveHome = ReturnType<typeof createOutliveHome>;

/** A client and its server. */
export type OutliveClient = Awaited<ReturnType<typeof converse>>;

async function converse(child: ReturnType<typeof spawn>, client: string) {
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('The server has no pipes.');
  const waiting = new Map<number, (reply: Reply) => void>();
  let count = 0;
  let errors = '';
  stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  stdin.on('error', () => {});
  // A server that is killed may leave half a line, which is not a reply.
  let unfinished = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${unfinished}${text}`.split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line);
      waiting.get(id)?.(result ?? error);
    }
  });
  const gone = once(child, 'exit');
  const request = (method: string, params: unknown) =>
    new Promise<Reply>((resolve, reject) => {
      count += 1;
      waiting.set(count, resolve);
      void gone.then(() => reject(new Error(`The server has ended. ${errors}`)));
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: count, method, params })}\n`);
    });
  const { instructions = '' } = await request('initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: client, version: '1' } },
  });
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const use = async (name: string, args: Readonly<Record<string, unknown>>) => {
    const { content = [], structuredContent = {} } = await request('tools/call', { name, arguments: args });
    return { text: content.map(({ text }) => text).join('\n'), structured: structuredContent };
  };
  return {
    instructions,
    pid: child.pid ?? 0,
    stderr: () => errors,
    use,
    /** Calls a tool and returns the text of its reply. */
    call: async (name: string, args: Readonly<Record<string, unknown>>) => (await use(name, args)).text,
    /** Kills the server with SIGKILL. */
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await gone;
    },
    /** Kills the client or server of `openClient`, or both. */
    async killAs(victim: 'server' | 'client' | 'both'): Promise<void> {
      if (victim !== 'client') process.kill(Number.parseInt(errors, 10), 'SIGKILL');
      if (victim !== 'server') child.kill('SIGKILL');
      await gone;
    },
    /** Closes the server's stdin, as a client does that ends. */
    async leave(): Promise<void> {
      stdin.end();
      await gone;
    },
  };
}
