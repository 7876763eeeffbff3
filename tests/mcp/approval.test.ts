import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { connect, type Era, eras, type UserAnswer } from '../support/mcp.ts';

const rules = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;

type Connection = Awaited<ReturnType<typeof connect>>;
let open: Connection | undefined;
afterEach(async () => {
  expect(await open?.close()).toEqual([]);
  open = undefined;
});

/** A server with a rule that asks, and a client whose user gives one answer. */
async function connectWith(era: Era, answer?: (message: string) => UserAnswer) {
  open = await connect({ era, env: { ALLOWED_COMMANDS: '*' }, userFile: rules, ...(answer && { answer }) });
  return open;
}

describe.each(eras)('a command that needs approval, over %s', (era) => {
  test('P11: runs when the user approves, who sees the command and the reason', async () => {
    const questions: string[] = [];
    const here = await connectWith(era, (message) => {
      questions.push(message);
      return { action: 'accept', content: { approve: true } };
    });
    const reply = await here.call({ command: 'touch made' });
    expect(reply.structured).toMatchObject({ exit_code: 0 });
    expect(existsSync(join(here.cwd, 'made'))).toBe(true);
    expect(questions).toEqual([expect.stringMatching(/Files are made with care\.[\s\S]*touch made/)]);
  });

  test('P11: is shown with all that it would do, and cannot look like another', async () => {
    const questions: string[] = [];
    const here = await connectWith(era, (message) => {
      questions.push(message);
      return { action: 'accept', content: { approve: true } };
    });
    const told = { cwd: '/usr', env: { SOME: 'thing' }, input: 'for stdin' };
    await here.call({ command: 'cd /\r\x1b[2K; touch --help', ...told });
    await here.use('start_command', { command: 'bash', name: 'shell', wait_ms: 5_000 });
    await here.use('write_input', { command_id: 'shell', text: 'touch typed; echo so\n', wait_for: 'so' });
    expect(existsSync(join(here.cwd, 'typed'))).toBe(true);
    const [called = '', typed = ''] = questions;
    expect(questions).toHaveLength(2);
    expect(called).toMatch(/in +\| \/usr\n +with +\| SOME=thing\n +stdin +\| for stdin\n/);
    expect(called).toContain('| cd /\\u{d}\\u{1b}[2K; touch --help\n');
    expect(typed).toMatch(/into +\| cmd_\w+\n +runs +\| touch typed; echo so\n/);
  });

  test.each([
    ['declines', { action: 'decline' }],
    ['closes the question', { action: 'cancel' }],
    ['says no', { action: 'accept', content: { approve: false } }],
  ] as const)('P11: does not run when the user %s', async (_what, result) => {
    const here = await connectWith(era, () => result);
    const reply = await here.call({ command: 'touch made' });
    expect(reply).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(reply.text).toContain('declined');
    expect(existsSync(join(here.cwd, 'made'))).toBe(false);
  });

  test('P11: is refused with approval_required when the client cannot ask', async () => {
    const here = await connectWith(era);
    const reply = await here.call({ command: 'touch made' });
    expect(reply).toMatchObject({
      isError: true,
      structured: { code: 'approval_required', exit_code: null },
    });
    expect(existsSync(join(here.cwd, 'made'))).toBe(false);
    expect(await here.call({ command: 'echo free' })).toMatchObject({ structured: { stdout: 'free\n' } });
  });
});
