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
  test('B9: says what would be executed, and nothing runs', async () => {
    const outcome = await here.run('touch made', {}, { dryRun: true });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: '[Dry Run] Would execute: touch made\n' });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
    expect(here.records().map(({ kind }) => kind)).toEqual(['asked', 'decided', 'skipped']);
    const argv = { command: { kind: 'argv', argv: ['touch', 'made'] } } as const;
    const { stdout } = await here.run('', argv, { dryRun: true });
    expect(stdout).toBe('[Dry Run] Would execute: touch made\n');
  });

  test('B9: is refused what policy refuses', async () => {
    const allow = { kind: 'names', names: ['ls'] } as const;
    const context = { dryRun: true, rules: { allow, allowSetting: 'LIST', danger: 'block' } } as const;
    await expect(here.run('touch made', {}, context)).rejects.toMatchObject({ code: 'policy_denied' });
    await expect(here.run('true', { cwd: '/nowhere' }, { dryRun: true })).rejects.toMatchObject({
      code: 'cwd_invalid',
    });
  });
});
