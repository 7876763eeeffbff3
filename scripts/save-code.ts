// Greets a client once and saves the code that V8 has compiled for it. `build.mjs` bundles and runs this, for the Node that
// builds; other versions save their own at their first start.
import { PassThrough } from 'node:stream';
import type * as greeter from '../src/assembly/greet-first.ts';
import { loadCachedCode } from '../src/support/cached-code.ts';

const [file = ''] = process.argv.slice(2);
const code = loadCachedCode(file);
const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
const params = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'build', version: '1' },
};
for (const message of [
  { id: 1, method: 'initialize', params },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
])
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const io = { stdin, stdout, stderr, interrupted: new AbortController().signal };
const env = { HOME: '/nonexistent', ALLOWED_COMMANDS: '*' };
const { greeted } = await (code.exports as typeof greeter).greetFirst(['mcp'], { env, cwd: '/', io });
if (greeted?.answered.size !== 2) throw new Error('The greeter has not answered both requests.');
code.save();
