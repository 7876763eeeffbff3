import { expect, test } from 'vitest';
import { toldBefore } from './parse-entry.ts';

const told = (...flags: string[]) => toldBefore({ args: ['dist/cli.js', 'mcp', ...flags] }, []);

test('a list that an entry gives in several parts is one list; of anything else the last counts', () => {
  const flags = [
    '--allow',
    'git',
    '--allow=ls',
    '--cwd',
    '/a',
    '--cwd=/b',
    '--sandbox=off',
    '--sandbox',
    'workspace',
  ];
  expect(told(...flags, '--record')).toEqual({
    project: '/b',
    env: { ALLOWED_COMMANDS: 'git,ls', NACRE_SANDBOX: 'workspace' },
    more: ['--record'],
  });
});

test('an entry without flags and variables tells nothing', () => {
  expect(told()).toEqual({ project: undefined, env: undefined, more: [] });
});
