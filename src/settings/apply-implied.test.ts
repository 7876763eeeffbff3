import { describe, expect, it } from 'vitest';
import { defineSettings } from './define.ts';
import { parseFlags } from './parse-flags.ts';
import { resolveSettings } from './resolve-settings.ts';
import { s } from './schema.ts';

const implies = { small: { list: ['a'], mode: 'strict' }, large: { list: ['a', 'b', 'c'] } };
const settings = defineSettings({
  size: s
    .choice(['small', 'large'])
    .optional()
    .meta({ env: 'NACRE_SIZE', flag: '--size', description: 'Size.', implies }),
  list: s.list(s.text()).optional().meta({
    env: 'NACRE_LIST',
    flag: '--list',
    description: 'List.',
    project: 'intersect',
  }),
  mode: s.choice(['loose', 'strict']).default('loose').meta({ flag: '--mode', description: 'Mode.' }),
});
const flags = (...argv: string[]) => parseFlags(argv, settings);

describe('E8: a choice that implies values of other settings', () => {
  it('sets them with its own priority, and the origin names it', () => {
    const { values, origins } = resolveSettings({ env: { NACRE_SIZE: 'small' } }, settings);
    expect(values).toEqual({ size: 'small', list: ['a'], mode: 'strict' });
    expect(origins.list).toEqual({ source: 'environment', where: 'NACRE_SIZE', impliedBy: 'small' });
  });

  it('merges its list with one from the same source, and yields to any other value from there', () => {
    const given = flags('--size', 'small', '--list', 'x,a', '--mode', 'loose');
    const { values, origins } = resolveSettings({ flags: given }, settings);
    expect(values).toEqual({ size: 'small', list: ['a', 'x'], mode: 'loose' });
    expect(origins.list).toMatchObject({ where: '--list', impliedBy: 'small' });
  });

  it('does not widen a list from a higher source, and is not widened by one from a lower source', () => {
    const user = { path: '/home/.nacre.yaml', text: 'size: large\nlist: [z]\n' };
    expect(resolveSettings({ env: { NACRE_LIST: 'q' }, user }, settings).values.list).toEqual(['q']);
    expect(resolveSettings({ flags: flags('--size=small'), user }, settings).values.list).toEqual(['a']);
  });

  it('is tightened by a project file like any list, and cannot be chosen in one', () => {
    const project = { path: '/repo/nacre.yaml', text: 'list: [b, z]\n' };
    expect(resolveSettings({ flags: flags('--size=large'), project }, settings).values.list).toEqual(['b']);
    const choosing = { path: '/repo/nacre.yaml', text: 'size: large\n' };
    expect(() => resolveSettings({ project: choosing }, settings)).toThrow(
      'size is not allowed in a project file',
    );
  });

  it('throws if it implies a setting that does not exist', () => {
    const wrong = defineSettings({
      size: s.choice(['small']).optional().meta({ flag: '--size', description: 'Size.', implies }),
    });
    const given = parseFlags(['--size', 'small'], wrong);
    expect(() => resolveSettings({ flags: given }, wrong)).toThrow(
      'There is no setting list to imply a value for.',
    );
  });
});
