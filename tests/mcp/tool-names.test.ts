import { expect, test } from 'vitest';
import { nameTools } from '../../src/support/name-tools.ts';
import { createPlace, runInProcess } from '../support/nacre.ts';
import { shareServers } from './shared-servers.ts';

const serve = shareServers();
const env = { ALLOWED_COMMANDS: '*', NACRE_TOOLS: 'all', NACRE_TOOL_PREFIX: 'nacre_' };

test('T3: a prefix is part of every tool name in lists, calls, instructions, hints and errors', async () => {
  const { client } = await serve({ env });
  const { tools } = await client.listTools();
  for (const { name } of tools) expect(name).toMatch(/^nacre_/);
  const instructions = client.getInstructions() ?? '';
  expect(instructions).toContain('nacre_Bash: one shell');
  const texts = [
    instructions,
    ...tools.flatMap((tool) => [tool.description, JSON.stringify(tool.inputSchema)]),
  ];
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name: `nacre_${name}`, arguments: args });
    const text = (result.content as { text: string }[]).map((part) => part.text).join('\n');
    texts.push(text, JSON.stringify(result.structuredContent ?? {}));
    return text;
  };
  expect(await call('execute_command', { command: 'sleep 60.5', timeout_ms: 100 })).toContain(
    'nacre_start_command',
  );
  expect(await call('execute_command', { command: 'sleep 60.5 & true' })).toContain('nacre_start_command');
  expect(await call('execute_command', { command: 'seq 1 20000' })).toContain('nacre_read_output');
  expect(await call('execute_command', { comand: 'ls' })).toContain('call nacre_execute_command again');
  expect(await call('Bash', { command: 'seq 1 20000' })).toContain('nacre_BashOutput');
  expect(await call('Bash', { command: 'sleep 60.5', run_in_background: true })).toContain('nacre_KillShell');
  expect(await call('KillShell', { shell_id: 'shell_none' })).toContain('nacre_ListShells');
  // Applied again, the names that have the prefix do not change.
  for (const text of texts) expect(nameTools('nacre_', text ?? '')).toBe(text);
  await expect(client.callTool({ name: 'execute_command', arguments: { command: 'ls' } })).rejects.toThrow(
    'nacre_execute_command',
  );
});

test('E8: a prefix that would make invalid names is refused', async () => {
  for (const prefix of ['mcp.', '1x', 'a b', 'x'.repeat(21)]) {
    const { code, stderr } = await runInProcess(['mcp', `--tool-prefix=${prefix}`], createPlace({}));
    expect([prefix, code !== 0, stderr]).toEqual([prefix, true, expect.stringContaining('tool_prefix')]);
  }
});

test('T1: env and limits may be NAME=value strings, as the schema says, or a map', async () => {
  const server = await serve({ env: { ALLOWED_COMMANDS: '*' } });
  const { tools } = await server.client.listTools();
  expect(JSON.stringify(tools)).not.toMatch(/"additionalProperties":\{/);
  const command = 'echo "$A-$B"; ulimit -f';
  const limits = { file_bytes: 10_240 };
  const expected = { structured: { exit_code: 0, stdout: 'x=y-\n10\n' } };
  expect(await server.call({ command, env: { A: 'x=y', B: '' }, limits })).toMatchObject(expected);
  const strings = { env: ['A=x=y', 'B='], limits: ['file_bytes=10240'] };
  expect(await server.call({ command, ...strings })).toMatchObject(expected);
  const wrong = await server.call({ command, env: ['A'], limits: ['file_bytes=many'] });
  expect(wrong.structured.error).toMatch(/env must be an object.*limits\.file_bytes must be/);
});

test('T3: limits and defaults are in words too, and the main tool is always loaded', async () => {
  const { client } = await serve({ env: { ALLOWED_COMMANDS: '*' } });
  const { tools } = await client.listTools();
  const [execute] = tools;
  expect(execute?._meta).toEqual({ 'anthropic/alwaysLoad': true });
  const { timeout_ms } = (execute?.inputSchema.properties ?? {}) as Record<string, { description?: string }>;
  expect(timeout_ms?.description).toContain('1 to 600000, default 55000');
  expect(execute?.description?.split('\n')[0]).toMatch(/instead of a built-in shell/);
});
