import { expect, test } from 'vitest';
import { resolveSettings } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { timeLimitsFor } from './time-limits-for.ts';

const resolve = (user = '', project = '') =>
  resolveSettings(
    { user: { path: '/u/config.yaml', text: user }, project: { path: '/p/nacre.yaml', text: project } },
    allSettings,
  );

test('T1: execute_command has 55 s, and 120 s for a client that waits longer', () => {
  expect(timeLimitsFor('terminal', resolve(), 'usual')).toEqual({ defaultMs: 55_000, maxMs: 600_000 });
  expect(timeLimitsFor('terminal', resolve(), 'long')).toEqual({ defaultMs: 120_000, maxMs: 600_000 });
});

test('B3, S1: the other families have the limits of their specifications, for every client', () => {
  for (const patience of ['usual', 'long'] as const) {
    expect(timeLimitsFor('bash', resolve(), patience)).toEqual({ defaultMs: 120_000, maxMs: 600_000 });
    expect(timeLimitsFor('shell-execute', resolve(), patience)).toEqual({
      defaultMs: 300_000,
      maxMs: 1_800_000,
    });
  }
});

test('the user can set the default and the maximum, and the maximum bounds the default', () => {
  const resolved = resolve('terminal_timeout_ms: 300000\nbash_timeout_max_ms: 90000\n');
  expect(timeLimitsFor('terminal', resolved, 'usual').defaultMs).toBe(300_000);
  expect(timeLimitsFor('terminal', resolved, 'long').defaultMs).toBe(300_000);
  expect(timeLimitsFor('bash', resolved, 'usual')).toEqual({ defaultMs: 90_000, maxMs: 90_000 });
});

test('a project file can only lower them', () => {
  const lowered = resolve('', 'terminal_timeout_ms: 20000\nterminal_timeout_max_ms: 30000\n');
  expect(timeLimitsFor('terminal', lowered, 'long')).toEqual({ defaultMs: 20_000, maxMs: 30_000 });
  const raised = resolve('', 'terminal_timeout_ms: 900000\nterminal_timeout_max_ms: 900000\n');
  expect(timeLimitsFor('terminal', raised, 'usual')).toEqual({ defaultMs: 55_000, maxMs: 600_000 });
});
