import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { needLevel } from '../support/needs.ts';
import { shareServers } from './shared-servers.ts';

beforeEach((context) => needLevel(context, 'namespace'));

const share = shareServers();
const env = { ALLOWED_COMMANDS: '*', NACRE_WORKSPACE: 'project', NACRE_CHANGES: 'track' };

/** A server whose workspace `project` has one file. */
async function serve(tools: string) {
  const server = await share({ env, args: ['--tools', tools] });
  const project = join(server.cwd, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'a'), 'a\n');
  const read = (name: string) => readFileSync(join(project, name), 'utf8');
  return { ...server, project, read };
}

describe('the tools of the family changes over MCP', () => {
  it('show, apply and undo held changes', async () => {
    const { call, use, project, read } = await serve('terminal,changes');
    const held = await call({ command: 'echo b >> a', cwd: project, changes: 'hold' });
    const { changes } = held.structured as { changes: { id: string; state: string } };
    expect(changes).toMatchObject({ state: 'held', changed: 1 });
    expect(read('a')).toBe('a\n');
    const { id } = changes;
    expect((await use('list_changes', {})).structured).toMatchObject({ changes: [{ id, state: 'held' }] });
    expect((await use('show_changes', { id })).text).toContain('+b');
    expect((await use('apply_changes', { id })).structured).toMatchObject({ id, state: 'applied' });
    expect(read('a')).toBe('a\nb\n');
    expect((await use('undo_changes', { id })).structured).toMatchObject({ id, state: 'held' });
    expect(read('a')).toBe('a\n');
    expect((await use('discard_changes', { id })).structured).toMatchObject({ id, state: 'gone' });
    const gone = await use('show_changes', { id });
    expect([gone.isError, gone.structured.code]).toEqual([true, 'job_not_found']);
  });

  it('show a line break in a name as an escape, which cannot pass for a line of the difference', async () => {
    const { call, use, project } = await serve('terminal,changes');
    const held = await call({ command: "echo x > $'n\\n- lost'", cwd: project, changes: 'hold' });
    const { id } = held.structured.changes as { id: string };
    const { diff } = (await use('show_changes', { id })).structured;
    expect(diff).toContain('+ n\\u{a}- lost\n');
    await use('discard_changes', { id });
  });

  it('are not there unless they are asked for', async () => {
    const { client } = await serve('terminal');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => name.endsWith('_changes'))).toEqual([]);
  });

  it('say that a background command is not tracked', async () => {
    const { use, project } = await serve('terminal,changes');
    const args = { command: 'echo b > direct; sleep 100', cwd: project, name: 'direct', wait_ms: 0 };
    const started = await use('start_command', args);
    expect(started.structured.changes_note).toContain('are not tracked and cannot be undone');
    await expect.poll(() => existsSync(join(project, 'direct')), { timeout: 20_000 }).toBe(true);
    await use('stop_command', { command_id: 'direct' });
  });
});
