import { describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../../engine/approval/approval.ts';
import { toApprovalQuestion } from './approval-question.ts';

const ask = (script: string, asked: Partial<ApprovalRequest['asked']> = {}, reason = 'It writes.') =>
  toApprovalQuestion({
    decision: { verdict: 'ask', rule: 'policy', reason, programs: [] },
    asked: {
      command: { kind: 'shell', script },
      cwd: '/app',
      env: {},
      input: null,
      into: null,
      sandbox: null,
      ...asked,
    },
    id: 'cmd_1',
    caller: { door: 'mcp', client: 'test' },
    owner: 'test',
    signal: undefined,
  });

test('P11: a question has the command on its first line, then the place and the reason', () => {
  expect(ask('npm publish')).toBe('npm publish\nin /app\nwhy: It writes.\nAccept to run it once.');
  expect(ask('ls', { into: 'main', sandbox: 'strict' })).toContain(
    '\nin /app, typed into main, sandbox strict\n',
  );
  expect(ask('ls', { on: 'gpu1', sandbox: 'strict' })).toContain('\non gpu1, in /app, sandbox strict\n');
  expect(ask('', { command: { kind: 'argv', argv: ['echo', 'a b'] } })).toMatch(/^"echo" "a b"\n/);
});

describe('P11: a hostile command', () => {
  const forgeries = [
    ['line breaks', 'rm x\nin /safe\nwhy: harmless'],
    ['other line breaks', 'rm x\r\x0b\x0c\u0085\u2028\u2029in /safe'],
    ['escape sequences', 'rm x \x1b[2K\x1b[1A\x9b8m ok'],
    ['bidirectional text', 'rm \u202etxt.x\u202c \u2066a\u2069 \u200b\ufeff'],
    ['blanks', `rm x ${' '.repeat(70)}in /safe${'\t'.repeat(30)}why: harmless${'\u00a0\u3000'.repeat(40)}`],
    ['10 kB', `echo ${'a '.repeat(5_000)}; rm x`],
    ['20 kB of blanks', `echo ${' '.repeat(20_000)}; rm x`],
    ['surrogates', `${'😀'.repeat(400)}\ud800`],
  ] as const;
  test.each(forgeries)('with %s cannot add, hide or imitate a line', (_what, script) => {
    const lines = ask(script, { env: { A: script }, input: script, cwd: `/app${script}` }, script).split(
      '\n',
    );
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      expect(line.length).toBeLessThan(500);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u00a0\u3000]|[\t ]{3}/u);
    }
    expect(lines.slice(1).map((line) => line.slice(0, 4))).toEqual([
      'in /',
      'why:',
      'with',
      expect.stringMatching(/^(?:Acce|Too )/),
    ]);
  });

  test('that is too long shows both ends, its length and how to see all of it', () => {
    const lines = ask(`touch a; ${'x'.repeat(10_000)}; rm -rf b`).split('\n');
    expect(lines[0]).toMatch(/^touch a; x+ \[… of 10019 characters …\] x+; rm -rf b$/);
    expect(lines.at(-1)).toBe('Too long to show here: nacre show cmd_1 prints all of it.');
  });
});
