import { expect, test } from 'vitest';
import type { AuditRecord } from './read-records.ts';
import { matchesFilter, summariseCommands } from './summarise-commands.ts';

const record = (kind: string, more: object): AuditRecord => ({
  seq: 0,
  time: '2026-01-01T00:00:00.000Z',
  kind,
  id: 'cmd_1',
  door: 'mcp',
  client: 'x',
  ...more,
});

test('every recorded form of a command becomes one text', () => {
  const textOf = (command: unknown) => summariseCommands([record('asked', { command })])[0]?.command;
  expect(textOf('ls -l')).toBe('ls -l');
  expect(textOf(['ls', '-l'])).toBe('ls -l');
  expect(textOf({ beginning: 'ls', length: 100_000, sha256: 'x' })).toBe('ls');
  expect(textOf(null)).toBe('');
});

test('the outcome shows whether a command was skipped, failed or has not ended', () => {
  const outcomeOf = (kind: string, more: object) => summariseCommands([record(kind, more)])[0]?.outcome;
  expect(outcomeOf('skipped', { command: 'ls', reason: 'dry run' })).toBe('skipped');
  expect(outcomeOf('failed', { code: 'cwd_invalid' })).toBe('error: cwd_invalid');
  expect(outcomeOf('started', {})).toBe('running');
  expect(outcomeOf('decided', { programs: 'none' })).toBe('running');
});

test('filters find programs by name and by path', () => {
  const [command] = summariseCommands([record('decided', { programs: ['/usr/bin/git', 'ls'] })]);
  if (!command) throw new Error('no command');
  expect(matchesFilter(command, { program: 'git' })).toBe(true);
  expect(matchesFilter(command, { program: 'it' })).toBe(false);
  expect(matchesFilter(command, { program: 'ls', client: 'x', id: 'cmd_1', outcome: 'running' })).toBe(true);
  expect(matchesFilter(command, { id: 'cmd_2' })).toBe(false);
});
