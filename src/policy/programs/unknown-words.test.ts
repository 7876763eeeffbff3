import { describe, expect, test } from 'vitest';
import { decideCommand } from '../decide-command.ts';
import { programs } from './catalog.ts';
import { launcherPrograms } from './launchers.ts';
import type { Example, ProgramEntry } from './program.ts';
import { userWrapperPrograms } from './user-wrappers.ts';

const commandOf = (example: Example): string => (typeof example === 'string' ? example : example[0]);

/** Returns copies of an example, each with one word replaced by an unknown word. */
function withUnknownWords(command: string): string[] {
  const words = command.split(' ');
  return words
    .slice(1)
    .flatMap((_word, index) =>
      ['"$x"', '$x', '"--x=$x"', '"-$x"'].map((unknown) => words.with(index + 1, unknown).join(' ')),
    );
}

/** Selects examples in which every blank separates two words. */
function plainExamples(program: ProgramEntry): string[] {
  return [...program.runs, ...program.harmless]
    .map(commandOf)
    .filter((command) => /^[\w ./:=@%+,{}-]+$/.test(command))
    .filter((command) => decideCommand(command, '*').verdict === 'allow');
}

describe.each(programs.map((program) => [program.names[0] ?? '', program] as const))(
  'P6: words that are not known, for %s',
  (_name, program) => {
    test('are no danger in themselves', () => {
      for (const command of plainExamples(program).flatMap(withUnknownWords)) {
        expect([command, decideCommand(command, '*').verdict]).toEqual([command, 'allow']);
      }
    });
  },
);

const starters = [...userWrapperPrograms, ...launcherPrograms]
  .flatMap(({ names }) => names)
  // `ts` adds timestamps to lines and starts nothing.
  .filter((name) => name !== 'ts');

test.each(starters)('P6: `%s` with words that are not known is refused under a list', (name) => {
  expect(decideCommand(`${name} $x $y $z`, [name])).toMatchObject({ verdict: 'deny' });
});
