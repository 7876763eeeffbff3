import { expect, test } from 'vitest';
import { createOutliveHome } from '../support/outlive.ts';

test('a worker that was stopped with SIGSTOP is continued, and calls are answered', {
  timeout: 120_000,
}, async () => {
  const home = createOutliveHome();
  const client = await home.open();
  await client.call('start_command', { command: 'sleep 600', name: 'nap' });
  const [worker] = home.workers();
  if (!worker) throw new Error('No worker was started.');
  process.kill(worker.pid, 'SIGSTOP');
  expect(await client.call('start_command', { command: 'echo hello', wait_ms: 20_000 })).toContain('hello');
  process.kill(worker.pid, 'SIGSTOP');
  expect(await client.call('stop_command', { command_id: 'nap' })).toContain('exit_code: 130');
  process.kill(worker.pid, 'SIGSTOP');
  const other = await home.open('other');
  expect(await other.call('Bash', { command: 'echo again' })).toContain('again');
  await other.leave();
  await client.leave();
});
