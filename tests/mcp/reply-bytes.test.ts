import { expect, test } from 'vitest';
import { connect } from '../support/mcp.ts';

// The bytes of ten standard results, each with its text and its data, before replies had a shape: what a client received that
// passes both on to its model. The sum was 81,379.
const bytesBefore = 81_379;
const mostShare = 0.6;

/** The bytes of the parts of a result that clients pass on to their models. */
function bytesOf({ content, structuredContent, _meta }: Record<string, unknown>): number {
  const texts = (content as { text?: string }[]).map((part) => part.text ?? JSON.stringify(part));
  const data = [structuredContent, _meta]
    .filter((part) => part !== undefined)
    .map((part) => JSON.stringify(part));
  return Buffer.byteLength([...texts, ...data].join(''));
}

test('T2: a client that passes everything on receives at most 60 % of the bytes of ten results', async () => {
  const server = await connect({
    name: 'copilot-cli',
    args: ['--tools', 'terminal,bash'],
    env: { ALLOWED_COMMANDS: 'echo,ls,seq,sleep,cat,printf', SECRET_TOKEN: 'x' },
  });
  const table: Record<string, number> = {};
  const use = async (label: string, name: string, args: Record<string, unknown>) => {
    const result = await server.client.callTool({ name, arguments: args });
    table[label] = bytesOf(result);
    return JSON.stringify(result);
  };
  await use('short', 'execute_command', { command: 'echo hello' });
  const failing = await use('failing', 'execute_command', { command: 'ls /does/not/exist' });
  expect(failing).toContain('No such file');
  await use('timeout', 'execute_command', { command: 'echo started; sleep 60', timeout_ms: 300 });
  const large = await use('1 MB', 'execute_command', { command: 'seq 1 150000; ls /does/not/exist' });
  expect(large).toContain('No such file');
  await use('start', 'start_command', { command: 'echo ready; sleep 60', name: 'web', wait_for: 'ready' });
  await use('read', 'read_output', { command_id: 'web', cursor: 0, wait_ms: 0 });
  await use('stop', 'stop_command', { command_id: 'web' });
  await use('session', 'Bash', { command: 'cd /tmp; echo here' });
  await use('refusal', 'execute_command', { command: 'curl example.com' });
  await use('not found', 'execute_command', { command: 'echo x | cat; ./missing-program', cwd: '/' });
  expect(await server.close()).toEqual([]);
  const sum = Object.values(table).reduce((total, bytes) => total + bytes, 0);
  expect(sum).toBeLessThanOrEqual(bytesBefore * mostShare);
});
