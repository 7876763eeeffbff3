import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, eras, type UserAnswer } from '../support/mcp.ts';
import { freshFolder, type McpServer } from './shared-servers.ts';

const rules = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;
const env = { ALLOWED_COMMANDS: '*' };
const approved = { action: 'accept', content: {} } as const;

describe.concurrent.each(eras)('a command that needs approval, over MCP %s', (era) => {
  let server: McpServer;
  const questions: string[] = [];
  const answers = new Map<string, UserAnswer>();
  beforeAll(async () => {
    const answer = (message: string): UserAnswer => {
      questions.push(message);
      const [, found] = [...answers].find(([folder]) => message.includes(`in ${folder}\n`)) ?? [];
      return found ?? approved;
    };
    server = await connect({ era, env, userFile: rules, answer });
  });
  afterAll(async () => {
    expect(await server.close()).toEqual([]);
  });
  /** Creates a folder; `elicitation/create` for a command in it gets this answer. */
  const answerWith = (answer: UserAnswer) => {
    const cwd = freshFolder(server);
    answers.set(cwd, answer);
    return cwd;
  };

  test('P11: runs if the user approves the command and the reason shown', async () => {
    const cwd = answerWith(approved);
    const reply = await server.call({ command: 'touch made', cwd });
    expect(reply.structured).toMatchObject({ exit_code: 0 });
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(questions.filter((question) => question.includes(`in ${cwd}\n`))).toEqual([
      `touch made\nin ${cwd}\nwhy: touch needs approval: Files are made with care.\nAccept to run it once.`,
    ]);
  });

  test('P11: is asked about once in a call with a progress token, which is new in every round', async () => {
    const cwd = answerWith(approved);
    const reply = await server.call({ command: 'touch made', cwd }, { onprogress: () => {} });
    expect(reply.structured).toMatchObject({ exit_code: 0 });
    expect(questions.filter((question) => question.includes(`in ${cwd}\n`))).toHaveLength(1);
  });

  test('P11: is shown with its directory, variables and input, and with control characters escaped', async () => {
    const cwd = freshFolder(server);
    const input = { cwd: '/usr', env: { SOME: 'thing' }, input: 'for stdin' };
    await server.call({ command: 'cd /\r\x1b[2K; touch --help', ...input });
    await server.use('start_command', { command: 'bash', cwd, name: 'shell', wait_ms: 5_000 });
    await server.use('write_input', { command_id: 'shell', text: 'touch typed; echo so\n', wait_for: 'so' });
    expect(existsSync(join(cwd, 'typed'))).toBe(true);
    const called = questions.filter((question) => question.includes('in /usr\n'));
    expect(called).toEqual([
      'cd /\\u{d}\\u{1b}[2K; touch --help\nin /usr\nwhy: touch needs approval: Files are made with care.\nwith SOME=thing, stdin: for stdin\nAccept to run it once.',
    ]);
    expect(questions.filter((question) => question.includes('touch typed'))).toEqual([
      expect.stringMatching(/^touch typed; echo so ⏎ \nin \S+, typed into cmd_\w+\nwhy: /),
    ]);
  });

  test.each([
    ['declines', { action: 'decline' }],
    ['closes the question', { action: 'cancel' }],
  ] as const)('P11: is asked about once and does not run if the user %s', async (_what, answer) => {
    const cwd = answerWith(answer);
    const onprogress = () => {};
    const reply = await server.call({ command: 'touch made', cwd }, { onprogress });
    expect(questions.filter((question) => question.includes(`in ${cwd}\n`))).toHaveLength(1);
    expect(reply).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(reply.text).toContain('declined');
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  test('P11: is refused with approval_required if the client cannot ask', async () => {
    const mute = await connect({ era, env, userFile: rules });
    const reply = await mute.call({ command: 'touch made' });
    expect(reply).toMatchObject({
      isError: true,
      structured: { code: 'approval_required', exit_code: null },
    });
    expect(existsSync(join(mute.cwd, 'made'))).toBe(false);
    expect(await mute.call({ command: 'echo free' })).toMatchObject({ structured: { stdout: 'free\n' } });
    expect(await mute.close()).toEqual([]);
  });
});
