import { expect, it } from 'vitest';
import { defineSettings } from './define.ts';
import { s } from './schema.ts';
import { toHelpRows } from './to-help-rows.ts';

const general = defineSettings({
  help: s
    .boolean()
    .default(false)
    .meta({ flag: ['--help', '-h'], description: 'Show this text.' }),
  hidden: s.text().optional().meta({ env: 'HIDDEN', description: 'Has no flag.' }),
});

const limits = defineSettings({
  ringBytes: s.int().min(0).max(9_000).default(8_000).meta({
    env: 'NACRE_RING_BYTES',
    flag: '--ring-bytes',
    description: 'Bytes of output kept in memory per command.',
  }),
  retries: s.int().min(0).max(9).default(0).meta({ flag: '--retries', description: 'Tries.' }),
  level: s.choice(['a', 'b']).default('a').meta({ flag: '--level', description: 'How much.' }),
  names: s.list(s.text()).default([]).meta({ flag: '--names', description: 'Which.' }),
  sorts: s
    .list(s.choice(['x', 'y']))
    .default(['x', 'y'])
    .meta({ flag: '--sorts', description: 'Sorts.' }),
  title: s.text().optional().meta({ flag: '--title', description: 'A title.' }),
  dir: s.text().optional().meta({ flag: '--dir', description: 'A place.', path: true, unset: 'here' }),
});

it('lists every flag with its short form first, its value, its variables and its default', () => {
  expect(toHelpRows(general)).toEqual([{ left: '-h, --help', right: 'Show this text.' }]);
  expect(toHelpRows(limits)).toEqual([
    {
      left: '--ring-bytes BYTES',
      right: 'Bytes of output kept in memory per command. (NACRE_RING_BYTES; default: 8000)',
    },
    { left: '--retries N', right: 'Tries. (default: 0)' },
    { left: '--level a|b', right: 'How much. (default: a)' },
    { left: '--names LIST', right: 'Which. (default: none)' },
    { left: '--sorts x,y', right: 'Sorts. (default: x, y)' },
    { left: '--title TEXT', right: 'A title.' },
    { left: '--dir PATH', right: 'A place. (default: here)' },
  ]);
});
