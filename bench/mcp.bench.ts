// The MCP door: cold start to `tools/list` and to the end of the first command, and one call of `true` over stdio.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { interleave, median, perSecond, report } from './measure.ts';

const cli = 'dist/cli.js';
// NACRE_TEST_ROOT is not a setting, so nacre would warn about it, and with a warning `greetFirst` does not answer early.
const { NACRE_TEST_ROOT: _, ...inherited } = process.env;
const env = { ...inherited, ALLOWED_COMMANDS: '*' };

const bareNode = () =>
  new Promise((resolve) => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).on('exit', resolve));

/** A minimal MCP client, because a client library would add its own overhead to the measurement. */
class Client {
  readonly #server: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, (message: unknown) => void>();
  #seen = '';
  #last = 0;

  constructor() {
    this.#server = spawn(process.execPath, [cli, 'mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#server.stdout.on('data', (chunk) => this.#receive(String(chunk)));
  }

  async start(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
  }

  request(method: string, params: object): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    this.#send({ id, method, params });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  stop(): void {
    this.#server.stdin.end();
  }

  #send(message: object): void {
    this.#server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #receive(text: string): void {
    const lines = (this.#seen + text).split('\n');
    this.#seen = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
    }
  }
}

const listTools = async () => {
  const client = new Client();
  await client.start();
  await client.request('tools/list', {});
  client.stop();
};

const runTrue = async () => {
  const client = new Client();
  await client.start();
  await client.request('tools/call', { name: 'execute_command', arguments: { command: 'true' } });
  client.stop();
};

const cold = await interleave(20, { node: bareNode, mcp: listTools });
console.log(
  `node -e 0 ${median(cold.node).toFixed(1)} ms, nacre mcp ${median(cold.mcp).toFixed(1)} ms (p50 of 20)`,
);
report('cold start to tools/list compared with node -e 0', median(cold.mcp) / median(cold.node), 1.4, '×');
// The server of a round ends its shells during the rest.
const first = await interleave(20, { node: bareNode, mcp: runTrue }, 300);
report(
  'first command of a new server compared with node -e 0',
  median(first.mcp) / median(first.node),
  4,
  '×',
);

const client = new Client();
await client.start();
const plainSpawn = () => new Promise((resolve) => spawn('bash', ['-c', 'true']).on('close', resolve));
const callTrue = () =>
  client.request('tools/call', { name: 'execute_command', arguments: { command: 'true' } });
const calls = await interleave(300, { spawn: plainSpawn, mcp: callTrue });
console.log(
  `spawn ${median(calls.spawn).toFixed(2)} ms, MCP call ${median(calls.mcp).toFixed(2)} ms (p50 of 300)`,
);
report('an MCP call of true compared with spawn', median(calls.mcp) / median(calls.spawn), 1.5, '×');
for (const [title, atOnce, target] of [
  ['one after the other', 1, 1],
  ['64 at once', 64, 2],
] as const) {
  const [plain, ours] = [
    await perSecond(plainSpawn, { count: 400, atOnce }),
    await perSecond(callTrue, { count: 400, atOnce }),
  ];
  console.log(`${title}: spawn ${plain.toFixed(0)}/s, MCP ${ours.toFixed(0)}/s`);
  report(`MCP calls per second, ${title}, compared with spawn`, ours / plain, target, '×', true);
}
client.stop();
