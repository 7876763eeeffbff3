import { expect, it } from 'vitest';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { toDistinct } from './to-distinct.ts';

const ran = (command: string, door = 'mcp') => ({ command, door }) as CommandSummary;
const shown = (commands: readonly CommandSummary[], most?: number) =>
  toDistinct(commands, most).map(({ one, times }) => `${one.door} ${one.command} ${times}`);

it('counts the same text once, apart from what no shell read', () => {
  expect(shown([ran('ls'), ran('ls', 'http'), ran('ls')])).toEqual(['http ls 1', 'mcp ls 2']);
});

it('keeps what ran last, however early it ran first', () => {
  expect(shown([ran('git status'), ran('a'), ran('b'), ran('git status')], 2)).toEqual([
    'mcp b 1',
    'mcp git status 2',
  ]);
});
