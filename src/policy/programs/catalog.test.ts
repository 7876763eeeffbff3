import { describe, expect, test } from 'vitest';
import { decideCommand } from '../decide-command.ts';
import { programs } from './catalog.ts';
import type { Example } from './program.ts';

const parts = (example: Example): [string, string[]] =>
  typeof example === 'string' ? [example, []] : [example[0], example.slice(1)];

describe.each(programs.map((program) => [program.names[0] ?? '', program] as const))(
  'P2: what is known about %s',
  (_name, program) => {
    test.each(program.runs.map(parts))('refuses `%s` while only it is listed', (command) => {
      expect(decideCommand(command, program.names)).toMatchObject({ verdict: 'deny' });
    });

    test.each(program.runs.map(parts).filter(([, also]) => also.length > 0))(
      'allows `%s` once %s is listed too',
      (command, also) => {
        expect(decideCommand(command, [...program.names, ...also])).toMatchObject({ verdict: 'allow' });
      },
    );

    test.each(program.harmless.map(parts))('allows `%s`', (command, also) => {
      expect(decideCommand(command, [...program.names, ...also])).toMatchObject({ verdict: 'allow' });
    });
  },
);

test('no program has two entries', () => {
  const names = programs.flatMap((program) => program.names);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
