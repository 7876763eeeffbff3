import { expect, test } from 'vitest';
import { parseEntry } from './parse-entry.ts';

const parse = (...flags: string[]) => parseEntry({ args: ['dist/cli.js', 'mcp', ...flags] }, []);

test('repeated --allow flags are joined; of any other flag the last one counts', () => {
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
  expect(parse(...flags, '--record')).toEqual({
    project: '/b',
    env: { ALLOWED_COMMANDS: 'git,ls', NACRE_SANDBOX: 'workspace' },
    otherArgs: ['--record'],
  });
});

test('an entry without flags and variables has no values', () => {
  expect(parse()).toEqual({ project: undefined, env: undefined, otherArgs: [] });
});
