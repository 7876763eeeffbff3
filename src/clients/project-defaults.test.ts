import { describe, expect, it } from 'vitest';
import { presetNames } from '../policy/presets.ts';
import { presetFor, registriesOf } from './project-defaults.ts';

describe('presetFor', () => {
  it.each([
    [['package.json', 'README.md'], 'dev-node'],
    [['pyproject.toml'], 'dev-python'],
    [['requirements.txt', 'setup.py'], 'dev-python'],
    [['go.mod'], 'dev-go'],
    [['Cargo.toml'], 'dev-rust'],
    [['package.json', 'pyproject.toml'], 'dev'],
    [['Cargo.toml', 'go.mod', 'package.json'], 'dev'],
    [[], 'dev'],
  ])('%s is a project for %s', (files, preset) => {
    expect(presetFor(files)).toBe(preset);
    expect(presetNames).toContain(preset);
  });
});

describe('registriesOf', () => {
  it('names the registries of one kind, and those of all kinds for dev', () => {
    expect(registriesOf('dev-rust')).toEqual([
      'crates.io',
      'index.crates.io',
      'static.crates.io',
      'github.com',
    ]);
    for (const preset of ['dev-node', 'dev-python', 'dev-go', 'dev-rust'])
      expect(registriesOf('dev')).toEqual(expect.arrayContaining([...registriesOf(preset)]));
  });

  it('names no host for presets that install nothing', () => {
    for (const preset of ['read-only', 'git', 'full', undefined]) expect(registriesOf(preset)).toEqual([]);
  });
});
