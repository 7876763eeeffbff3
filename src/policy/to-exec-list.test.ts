import { expect, test } from 'vitest';
import { describeAutoExec } from '../support/describe-exec.ts';
import { presets } from './presets.ts';
import { toExecList } from './to-exec-list.ts';

test.each(['none', 'read-only', 'git'] as const)('the preset %s is closed', (name) => {
  expect(toExecList(presets[name].allowedCommands).open).toEqual([]);
});

test.each(['dev-node', 'dev-python', 'dev-go', 'dev-rust', 'dev'] as const)(
  'the preset %s is open',
  (name) => {
    expect(toExecList(presets[name].allowedCommands).open).toEqual(expect.arrayContaining(['bash', 'make']));
  },
);

test.each([
  'npm',
  'make',
  'python3',
  'python',
  'node',
  'cargo',
  'bash',
  'sh',
  'perl',
  'docker',
  'no-such-program',
  './ls',
  '/opt/bin/ls',
  'constructor',
])('%s is open: its helpers are not known', (name) => {
  expect(toExecList(['ls', name]).open).toEqual([name]);
});

test.each([
  'ls',
  'grep',
  'git',
  'find',
  'sed',
  'jq',
  'curl',
  'awk',
  'gcc',
  'man',
  'ssh',
  'cd',
  '/usr/bin/ls',
  '/bin/cat',
])('%s is closed', (name) => {
  expect(toExecList([name]).open).toEqual([]);
});

test('helpers belong to the programs that need them', () => {
  expect(toExecList(['ls', 'egrep']).helpers).toEqual({ names: ['grep'], folders: [] });
  expect(toExecList(['git']).helpers.folders).toContain('/usr/lib/git-core');
});

test('the reason names some of the open programs', () => {
  expect(describeAutoExec(undefined, 'off')).toContain('every program is allowed');
  expect(describeAutoExec(toExecList(['ls']), 'off')).toContain('only the listed programs');
  const open = toExecList(['make', 'a', 'b', 'c', 'd', 'e', 'f']);
  expect(describeAutoExec(open, 'off')).toMatch(
    /\(make, a, b, c, d and 2 more\); set sandbox to limit them$/,
  );
  expect(describeAutoExec(open, 'workspace')).toMatch(/; the sandbox workspace limits them$/);
});
