import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/mcp.ts';
import { runInProcess } from '../support/nacre.ts';

let server: Awaited<ReturnType<typeof connect>>;
beforeAll(async () => {
  server = await connect({ env: { ALLOWED_COMMANDS: 'echo,sleep,printf' } });
});
afterAll(async () => {
  expect(await server.close()).toEqual([]);
});

const nacre = (...words: string[]) => runInProcess(words, server);
const show = async (...words: string[]) => (await nacre('show', ...words)).stdout;
const idOf = async (text: string) =>
  JSON.parse((await nacre('history', '--json', '--grep', text)).stdout.split('\n')[0] ?? '').id as string;

describe('nacre show', () => {
  it('shows a running command with its output so far, and again after its end', async () => {
    const { structured } = await server.use('start_command', { command: 'echo up; sleep 60', wait_ms: 500 });
    const id = String(structured.command_id);
    const running = await show(id);
    expect(running).toMatch(/^command +echo up; sleep 60$/m);
    expect(running).toMatch(/^caller +\S.* \(mcp\)$/m);
    expect(running).toMatch(/^decision +allow \(listed\): /m);
    expect(running).toMatch(/^outcome +running/m);
    expect(running).toMatch(/^output +kept by the running server\n\nup\n$/m);
    await nacre('stop', id);
    const ended = await show(id.slice(0, 10));
    expect(ended).toMatch(/^stopped +with SIGINT by terminal, /m);
    expect(ended).toMatch(/^outcome +killed, exit code 130$/m);
    expect(ended).toMatch(/\n\nup\n$/);
    const { records, output, outcome } = JSON.parse(await show(id, '--json'));
    expect(records.map(({ kind }: { kind: string }) => kind)).toEqual([
      'asked',
      'decided',
      'started',
      'stop',
      'finished',
    ]);
    expect({ output, outcome }).toEqual({
      output: { source: 'server', text: 'up\n', truncated: false },
      outcome: 'killed',
    });
  });

  it('says why a command was refused, and the next step', async () => {
    await server.call({ command: 'rm notes.txt' });
    const id = await idOf('rm notes');
    const text = await show(id.replace('cmd_', ''));
    expect(text).toMatch(/^decision +deny \(not_listed\): rm is not allowed, /m);
    expect(text).toMatch(/^outcome +refused$/m);
    expect(text).toMatch(/^next +nacre check 'rm notes.txt' explains the decision and what would allow it$/m);
    expect(text).toMatch(/^output +none; the command was not run$/m);
  });

  it('shows recorded output without control sequences, and says when output was not kept', async () => {
    const hostile = "printf '\\033]0;title\\007\\033[31mred\\033[0m\\n10%%\\r100%%\\n\\033c'";
    await nacre('run', '--record', hostile);
    const recorded = await show(await idOf('title'));
    expect(recorded).toMatch(/^output +recorded\n\nred\n100%\n/m);
    expect(recorded).toMatch(/^[^\p{Cc}]*$/mu);
    await nacre('run', 'echo gone');
    expect(await show(await idOf('gone'))).toMatch(/^output +5 bytes, not kept; the setting record /m);
  });

  it('escapes control characters in the command itself', async () => {
    await nacre('run', "echo '\u001b]0;x\u0007\u202e'\necho two");
    const text = await show(await idOf('echo two'));
    expect(text).toMatch(/^command +echo '\\u\{1b\}\]0;x\\u\{7\}\\u\{202e\}'\n {11}echo two$/m);
  });

  it('reports an unknown id with the nearest one, and an ambiguous beginning', async () => {
    const id = await idOf('gone');
    const mistyped = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    expect(await nacre('show', mistyped)).toMatchObject({
      code: 125,
      stderr: expect.stringContaining(`The audit log has no command ${mistyped}. Did you mean ${id}?`),
    });
    expect((await nacre('show', 'cmd_')).stderr).toMatch(
      /^nacre: \d+ commands have an id that begins with cmd_: /,
    );
    expect((await nacre('show')).stderr).toContain('requires the id of one command');
    expect((await nacre('show', 'nothing')).code).toBe(125);
  });
});
