import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import type { Rules } from '../../contract/decision.ts';
import type { CallerContext } from '../context/call-context.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const me: CallerContext = { caller: { door: 'cli', client: 'test' }, owner: 'tester' };
const listed = (...names: string[]): Rules => ({
  allow: { kind: 'names', names },
  allowSetting: 'ALLOWED_COMMANDS',
  danger: 'block',
});
const type = (id: string, text: string, context = me) =>
  here.engine.write(id, { text, eof: false, secret: false }, context);
const output = async (id: string, waitFor?: string) =>
  (
    await here.engine.read(
      id,
      { waitMs: 20_000, waitFor, maxChars: 1_000, keep: 'ends', view: 'clean', howToReadOn: () => '' },
      me,
    )
  ).stdout;

describe('T9: text typed into a shell', () => {
  test('is judged like any command while only listed programs may run', async () => {
    const id = await here.start('bash', {}, { rules: listed('bash', 'echo') });
    await type(id, 'echo typed\n');
    expect(await output(id, 'typed')).toBe('typed\n');
    await expect(type(id, 'touch ran\n')).rejects.toMatchObject({
      code: 'policy_denied',
      message: expect.stringMatching(/touch .*not allowed/),
    });
    await expect(type(id, 'echo half')).rejects.toMatchObject({ details: { rule: 'incomplete_input' } });
    await expect(type(id, 'if true; then\n')).rejects.toMatchObject({ code: 'policy_denied' });
    await expect(type(id, `echo ${'x'.repeat(1_100_000)}\n`)).rejects.toMatchObject({
      details: { rule: 'too_large' },
    });
    await type(id, 'exit 4\n');
    expect(await output(id)).toBe('');
    expect(here.records().filter(({ kind }) => kind === 'decided')).toHaveLength(7);
  });

  test('S6: is not in the audit log through its decision if it is secret', async () => {
    const id = await here.start('bash', {}, { rules: listed('bash', 'echo') });
    const typeSecret = (text: string) => here.engine.write(id, { text, eof: false, secret: true }, me);
    await expect(typeSecret('hunter2 again\n')).rejects.toMatchObject({ code: 'policy_denied' });
    await typeSecret('echo hunter2\n');
    await type(id, 'echo done\n');
    expect(await output(id, 'done')).toContain('done');
    await expect(type(id, 'hunter3\n')).rejects.toMatchObject({ code: 'policy_denied' });
    const decided = here.records().filter(({ kind }) => kind === 'decided');
    expect(decided.slice(1).map(({ verdict, rule }) => `${verdict} ${rule}`)).toEqual([
      'deny not_listed',
      'allow listed',
      'allow listed',
      'deny not_listed',
    ]);
    expect(JSON.stringify(here.records())).not.toMatch(/hunter2|again/);
  });

  test('is judged together with the text typed before', async () => {
    const id = await here.start('bash', {}, { rules: listed('bash', 'echo') });
    await type(id, 'name=touch\n');
    await expect(type(id, '$name ran\n')).rejects.toMatchObject({ code: 'policy_denied' });
    await type(id, 'say() { echo "said $1"; }\n');
    await type(id, 'say it\n');
    expect(await output(id, 'it')).toBe('said it\n');
  });

  test('is denied only if it is dangerous while everything may run, also in two halves', async () => {
    const id = await here.start('bash');
    await type(id, 'if true; then\n');
    await type(id, 'echo from halves; fi\n');
    expect(await output(id, 'halves')).toBe('from halves\n');
    await expect(type(id, 'rm -rf /\n')).rejects.toMatchObject({ code: 'policy_denied' });
    await type(id, 'if true; then\n');
    await expect(type(id, 'rm -rf /; fi\n')).rejects.toMatchObject({ code: 'policy_denied' });
  });

  test('is also judged alone while everything may run, because earlier text may have been deleted', async () => {
    const id = await here.start('cat >&2; bash', { terminal: { cols: 80, rows: 24 } });
    await type(id, 'echo a');
    const deleted = { text: '', keys: ['ctrl-u'], eof: false, secret: false };
    await here.engine.write(id, deleted, me);
    await expect(type(id, 'mkfs.none /does/not/exist\n')).rejects.toMatchObject({ code: 'policy_denied' });
  });

  test('ends its line by any name of the enter key', async () => {
    const id = await here.start('bash', {}, { rules: listed('bash', 'echo') });
    for (const key of ['Enter', 'return', 'RETURN']) {
      await here.engine.write(id, { text: `echo by ${key}`, keys: [key], eof: false, secret: false }, me);
      expect(await output(id, 'by')).toBe(`by ${key}\n`);
    }
    const denied = { text: 'touch ran', keys: ['Return'], eof: false, secret: false };
    await expect(here.engine.write(id, denied, me)).rejects.toMatchObject({ code: 'policy_denied' });
    await here.engine.write(id, { text: '', keys: ['C-d'], eof: false, secret: false }, me);
    expect(await output(id)).toBe('');
  });

  test('is judged in order although two calls type concurrently', async () => {
    const id = await here.start('bash', {}, { rules: listed('bash', 'echo') });
    const answers = await Promise.allSettled([type(id, 'name=touch\n'), type(id, '$name ran\n')]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test('S6: is not in the audit log if it is secret, although it was judged', async () => {
    const id = await here.start('bash');
    await type(id, 'read -rs password\n');
    await here.engine.write(id, { text: 'hunter2 or so\n', eof: false, secret: true }, me);
    await type(id, 'echo done\n');
    expect(await output(id, 'done')).toBe('done\n');
    expect(here.records().filter(({ kind }) => kind === 'decided').length).toBeGreaterThan(2);
    expect(JSON.stringify(here.records())).not.toMatch(/hunter2|or so/);
  });

  test('needs approval if the rules say so', async () => {
    const rules: Rules = { ...listed(), allow: { kind: 'all' }, confirm: 'unlisted' };
    const askUser = async () => ({ kind: 'approved' }) as const;
    const id = await here.start('bash', {}, { rules, askUser });
    await expect(type(id, 'touch asked\n')).rejects.toMatchObject({ code: 'approval_required' });
    await type(id, 'touch asked; echo done\n', { ...me, askUser });
    expect(await output(id, 'done')).toBe('done\n');
    expect(here.records().map(({ kind }) => kind)).toContain('approved');
  });
});

describe('T9: text typed into another program', () => {
  test.each(['cat', 'python3 -c "print(input())"'])('is not judged for %s', async (command) => {
    const id = await here.start(command, {}, { rules: listed('cat', 'python3') });
    await type(id, 'touch x; rm -rf /\n');
    expect(await output(id, 'touch')).toContain('touch x; rm -rf /\n');
  });

  test('is not judged for a listed interpreter', async () => {
    const id = await here.start('python3 -i -q', {}, { rules: listed('python3') });
    await type(id, 'print(6 * 7)\n');
    expect(await output(id, '42')).toContain('42');
  });

  test('is not judged for a shell if no rule can deny it', async () => {
    const rules: Rules = { ...listed(), allow: { kind: 'all' }, danger: 'off' };
    const id = await here.start('bash', {}, { rules });
    await type(id, 'if true; then echo half\n');
    await type(id, 'fi\n');
    expect(await output(id, 'half')).toBe('half\n');
  });
});
