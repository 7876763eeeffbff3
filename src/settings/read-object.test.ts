import { describe, expect, it } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import { defineSettings, listSettings } from './define.ts';
import { candidatesFromObject, type GivenSettings } from './read-object.ts';
import { resolveCandidates } from './resolve-candidates.ts';
import { s } from './schema.ts';

const declared = defineSettings({
  ringBytes: s.int().min(1).max(9_000).default(5).meta({ env: 'NACRE_RING', description: 'Bytes.' }),
  names: s.list(s.text()).optional().meta({ description: 'Names.' }),
});

const resolve = (given: GivenSettings<typeof declared>) =>
  resolveCandidates({ more: [candidatesFromObject(given, listSettings(declared))] }, declared);

describe('settings that a program passes', () => {
  it('E8: are checked like those of a file, and their origin names the property', () => {
    const { values, origins } = resolve({ ringBytes: 7, names: ['a'] });
    expect(values).toEqual({ ringBytes: 7, names: ['a'] });
    expect(origins.ringBytes).toEqual({ source: 'program', where: 'ringBytes' });
  });

  it('keep the default for an undefined property', () => {
    expect(resolve({ ringBytes: undefined }).values).toEqual({ ringBytes: 5 });
  });

  it('E8: are refused in one error, each with its name and the accepted values', () => {
    const wrong: object = { ringBytes: 0, names: null, ring_bytes: 1, NACRE_RING: 1, nmaes: [], other: 1 };
    const problems = [
      { where: 'ring_bytes', message: 'There is no setting ring_bytes. Did you mean ringBytes?' },
      { where: 'NACRE_RING', message: 'There is no setting NACRE_RING. Did you mean ringBytes?' },
      { where: 'nmaes', message: 'There is no setting nmaes. Did you mean names?' },
      { where: 'other', message: 'There is no setting other.' },
      { where: 'ringBytes', message: expect.stringContaining('a whole number from 1 to 9000') },
      { where: 'names', message: expect.stringContaining('a comma-separated list') },
    ];
    try {
      resolve(wrong);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(NacreError);
      expect(error).toMatchObject({ code: 'settings_invalid', details: { problems } });
    }
  });
});
