import { expect, it } from 'vitest';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { toDistinctCommands } from './distinct-commands.ts';

const ran = (command: string, door = 'mcp') => ({ command, door }) as CommandSummary;
const shown = (commands: readonly CommandSummary[], max?: number) =>
  toDistinctCommands(commands, max).map(({ one, times }) => `${one.door} ${one.command} ${times}`);

it('merges equal texts, but not shell text with HTTP arguments', () => {
  expect(shown([ran('ls'), ran('ls', 'http'), ran('ls')])).toEqual(['http ls 1', 'mcp ls 2']);
});

it('keeps the commands whose latest run is newest', () => {
  expect(shown([ran('git status'), ran('a'), ran('b'), ran('git status')], 2)).toEqual([
    'mcp b 1',
    'mcp git status 2',
  ]);
});
