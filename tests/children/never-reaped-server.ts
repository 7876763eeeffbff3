// Ends a server whose detached worker has run commands, where PID 1 reaps nothing, and reports the processes that are left.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { processStates, settleEmpty } from '../support/process-states.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { report } from './report.ts';

const [cli = ''] = process.argv.slice(2);
const home = temporaryFolder();
const server = spawn(process.execPath, [cli, 'mcp', '--allow', '*', '--tools', 'terminal,bash'], {
  ...{ cwd: home, env: { PATH: process.env.PATH ?? '', HOME: home }, stdio: ['pipe', 'pipe', 'ignore'] },
});
const replies = createInterface({ input: server.stdout });
const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function request(id: number, method: string, params: object): Promise<void> {
  const answered = new Promise<void>((resolve) => {
    replies.on('line', (line) => JSON.parse(line).id === id && resolve());
  });
  send({ id, method, params });
  return answered;
}

const clientInfo = { name: 'tester', version: '1' };
await request(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
send({ method: 'notifications/initialized' });
const call = (id: number, name: string, args: object) => request(id, 'tools/call', { name, arguments: args });
await call(2, 'execute_command', { command: 'true' });
await call(3, 'Bash', { command: '(sleep 300 &); true' });
await call(4, 'KillShell', { shell_id: 'main' });
await call(5, 'start_command', { command: 'tty', pty: true, wait_ms: 10_000 });
await call(6, 'start_command', { command: 'echo up; exit 3', wait_ms: 10_000 });
server.stdin.end();
await once(server, 'exit');
report(await settleEmpty(processStates, 20_000));
