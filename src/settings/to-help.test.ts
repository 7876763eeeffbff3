import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineSettings } from './define.ts';
import { toHelp } from './to-help.ts';

const groups = {
  General: defineSettings({
    help: z
      .boolean()
      .default(false)
      .meta({ flag: ['--help', '-h'], description: 'Show this text.' }),
    hidden: z.string().optional().meta({ env: 'HIDDEN', description: 'Has no flag.' }),
  }),
  Limits: defineSettings({
    ringBytes: z.int().min(0).max(9_000).default(8_000).meta({
      env: 'NACRE_RING_BYTES',
      flag: '--ring-bytes',
      description: 'Bytes of output kept in memory per command.',
    }),
    retries: z.int().min(0).max(9).default(0).meta({ flag: '--retries', description: 'Tries.' }),
    level: z.enum(['a', 'b']).default('a').meta({ flag: '--level', description: 'How much.' }),
    names: z.array(z.string()).default([]).meta({ flag: '--names', description: 'Which.' }),
    sorts: z
      .array(z.enum(['x', 'y']))
      .default(['x', 'y'])
      .meta({ flag: '--sorts', description: 'Sorts.' }),
    title: z.string().optional().meta({ flag: '--title', description: 'A title.' }),
    dir: z.string().optional().meta({ flag: '--dir', description: 'A place.', path: true, unset: 'here' }),
  }),
  Nothing: defineSettings({}),
};

it('aligns flags under their headings and breaks long lines', () => {
  expect(toHelp(groups, 60)).toBe(
    [
      'General:',
      '  -h, --help          Show this text.',
      '',
      'Limits:',
      '  --ring-bytes BYTES  Bytes of output kept in memory per',
      '                      command. (NACRE_RING_BYTES; default:',
      '                      8000)',
      '  --retries N         Tries. (default: 0)',
      '  --level a|b         How much. (default: a)',
      '  --names LIST        Which. (default: none)',
      '  --sorts x,y         Sorts. (default: x, y)',
      '  --title TEXT        A title.',
      '  --dir PATH          A place. (default: here)',
    ].join('\n'),
  );
});

it('stays within its width', () => {
  const widest = Math.max(
    ...toHelp(groups)
      .split('\n')
      .map((line) => line.length),
  );
  expect(widest).toBeLessThanOrEqual(100);
});
