import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

describe('a dry run', () => {
  test('B9: returns what would be executed, and runs nothing', async () => {
    const outcome = await here.run('touch made', {}, { dryRun: true });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: '[Dry Run] Would execute: touch made\n' });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
    expect(here.records().map(({ kind }) => kind)).toEqual(['asked', 'decided', 'skipped']);
    const argv = { command: { kind: 'argv', argv: ['touch', 'made'] } } as const;
    const { stdout } = await here.run('', argv, { dryRun: true });
    expect(stdout).toBe('[Dry Run] Would execute: touch made\n');
  });

  test('B9: starts nothing in the background either', async () => {
    const ask = [{ verdict: 'ask', program: 'touch', reason: 'Ask first.' }] as const;
    const rules = {
      allow: { kind: 'all' },
      allowSetting: 'LIST',
      danger: 'block',
      policy: ask,
    } as const;
    await expect(here.start('touch made', {}, { dryRun: true, rules })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const context = { caller: { door: 'cli', client: 'test' }, owner: 'me', cwdRoots: [] } as const;
    const request = { command: { kind: 'shell', script: 'touch made' }, timeoutMs: 5_000 } as const;
    const result = await here.engine.runOrDetach(
      { ...request, maxOutputChars: 100 },
      { ...context, rules, howToGetRest: '', dryRun: true },
    );
    expect(result).toMatchObject({ outcome: { stdout: '[Dry Run] Would execute: touch made\n' } });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
  });

  test('B9: is refused if the policy denies the command', async () => {
    const allow = { kind: 'names', names: ['ls'] } as const;
    const context = { dryRun: true, rules: { allow, allowSetting: 'LIST', danger: 'block' } } as const;
    await expect(here.run('touch made', {}, context)).rejects.toMatchObject({ code: 'policy_denied' });
    await expect(here.run('true', { cwd: '/nowhere' }, { dryRun: true })).rejects.toMatchObject({
      code: 'cwd_invalid',
    });
  });
});
