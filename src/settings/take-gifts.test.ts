import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSettings } from './define.ts';
import { parseFlags } from './parse-flags.ts';
import { resolveSettings } from './resolve-settings.ts';

const gives = { small: { list: ['a'], mode: 'strict' }, large: { list: ['a', 'b', 'c'] } };
const settings = defineSettings({
  size: z
    .enum(['small', 'large'])
    .optional()
    .meta({ env: 'NACRE_SIZE', flag: '--size', description: 'Size.', gives }),
  list: z.array(z.string()).optional().meta({
    env: 'NACRE_LIST',
    flag: '--list',
    description: 'List.',
    project: 'intersect',
  }),
  mode: z.enum(['loose', 'strict']).default('loose').meta({ flag: '--mode', description: 'Mode.' }),
});
const flags = (...argv: string[]) => parseFlags(argv, settings);

describe('E8: a choice that gives values to other settings', () => {
  it('gives them where it stands, and says so', () => {
    const { values, origins } = resolveSettings({ env: { NACRE_SIZE: 'small' } }, settings);
    expect(values).toEqual({ size: 'small', list: ['a'], mode: 'strict' });
    expect(origins.list).toEqual({ source: 'environment', where: 'NACRE_SIZE', givenBy: 'small' });
  });

  it('adds its list to the one of the same place, and yields to any other value there', () => {
    const given = flags('--size', 'small', '--list', 'x,a', '--mode', 'loose');
    const { values, origins } = resolveSettings({ flags: given }, settings);
    expect(values).toEqual({ size: 'small', list: ['a', 'x'], mode: 'loose' });
    expect(origins.list).toMatchObject({ where: '--list', givenBy: 'small' });
  });

  it('neither widens a list of a higher place nor is widened by one of a lower place', () => {
    const user = { path: '/home/.nacre.yaml', text: 'size: large\nlist: [z]\n' };
    expect(resolveSettings({ env: { NACRE_LIST: 'q' }, user }, settings).values.list).toEqual(['q']);
    expect(resolveSettings({ flags: flags('--size=small'), user }, settings).values.list).toEqual(['a']);
  });

  it('is tightened by a project file like any list, which cannot choose it', () => {
    const project = { path: '/repo/nacre.yaml', text: 'list: [b, z]\n' };
    expect(resolveSettings({ flags: flags('--size=large'), project }, settings).values.list).toEqual(['b']);
    const choosing = { path: '/repo/nacre.yaml', text: 'size: large\n' };
    expect(() => resolveSettings({ project: choosing }, settings)).toThrow(
      'size may not stand in a project file',
    );
  });

  it('must name settings that there are', () => {
    const wrong = defineSettings({
      size: z.enum(['small']).optional().meta({ flag: '--size', description: 'Size.', gives }),
    });
    const given = parseFlags(['--size', 'small'], wrong);
    expect(() => resolveSettings({ flags: given }, wrong)).toThrow('There is no setting list to be given.');
  });
});
