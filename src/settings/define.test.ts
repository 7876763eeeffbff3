import { describe, expect, it } from 'vitest';
import { defineSettings, inspectSetting } from './define.ts';
import { s } from './schema.ts';

const words = { description: 'Something.' };

describe('defineSettings', () => {
  it('returns the declarations unchanged', () => {
    const declared = { level: s.choice(['a', 'b']).default('a').meta(words) };
    expect(defineSettings(declared)).toBe(declared);
  });

  it('refuses a setting without a description, or with .meta() before .default()', () => {
    expect(() => defineSettings({ level: s.text().optional() })).toThrow('level has no description');
    expect(() => defineSettings({ level: s.text().meta(words).default('x') })).toThrow('no description');
  });

  it('refuses a setting that is required', () => {
    expect(() => defineSettings({ level: s.text().meta(words) })).toThrow('needs a default');
  });

  it('refuses a number without bounds', () => {
    expect(() => defineSettings({ size: s.int().default(1).meta(words) })).toThrow('with bounds');
    expect(() => defineSettings({ size: s.int().min(0).default(1).meta(words) })).toThrow('with bounds');
  });

  it('refuses a schema that cannot be set as text', () => {
    expect(() => defineSettings({ when: s.object({}).optional().meta(words) })).toThrow('set as text');
    expect(() => defineSettings({ sizes: s.list(s.int()).default([]).meta(words) })).toThrow(
      'neither text nor an object',
    );
  });

  it('refuses a project rule that does not fit the kind of value', () => {
    const level = s.choice(['a', 'b']).default('a');
    expect(() => defineSettings({ level: level.meta({ ...words, project: 'lower' }) })).toThrow(
      'cannot lower',
    );
    expect(() => defineSettings({ level: level.meta({ ...words, project: 'add' }) })).toThrow('cannot add');
  });

  it('refuses flags that are not spelled like flags', () => {
    for (const flag of ['level', '--Level', '-ab', '--no-level', '--']) {
      expect(() =>
        defineSettings({
          level: s
            .text()
            .optional()
            .meta({ ...words, flag }),
        }),
      ).toThrow(flag);
    }
  });

  it('refuses two settings with one name', () => {
    const level = s
      .text()
      .optional()
      .meta({ ...words, env: 'LEVEL' });
    expect(() => defineSettings({ a: level, b: level.meta({ ...words, env: ['B', 'LEVEL'] }) })).toThrow(
      'LEVEL',
    );
  });
});

describe('inspectSetting', () => {
  it('fills in defaults for omitted metadata', () => {
    expect(inspectSetting('maxOutputChars', s.text())).toMatchObject({
      key: 'max_output_chars',
      env: [],
      flags: [],
      description: '',
      project: 'never',
      path: false,
    });
  });

  it('finds the unit in the name', () => {
    const number = s.int().min(0).max(9);
    expect(inspectSetting('ringBytes', number).kind).toEqual({ type: 'int', min: 0, max: 9, unit: 'bytes' });
    expect(inspectSetting('drainMs', number).kind).toMatchObject({ unit: 'ms' });
    expect(inspectSetting('tombstoneSeconds', number).kind).toMatchObject({ unit: 'seconds' });
    expect(inspectSetting('maxRunning', number).kind).toMatchObject({ unit: undefined });
  });
});
