import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { presetNames, presets } from './presets.ts';

describe('presets', () => {
  it.each(presetNames)('%s lists each program once, sorted', (name) => {
    const { allowedCommands } = presets[name];
    expect(allowedCommands).toEqual([...new Set(allowedCommands)].sort());
  });

  it.each(presetNames)('the guide has a row for %s', (name) => {
    expect(readFileSync('docs/guide/policy.md', 'utf8')).toMatch(new RegExp(`^\\| \`${name}\` +\\|`, 'm'));
  });

  it('every development preset contains what all projects need', () => {
    const common = [
      'git',
      'echo',
      'pwd',
      'mkdir',
      'cp',
      'mv',
      'rm',
      'sed',
      'touch',
      'kill',
      'command',
      'type',
    ];
    for (const name of presetNames.filter((one) => one.startsWith('dev')))
      expect(presets[name].allowedCommands).toEqual(expect.arrayContaining(common));
  });

  it('dev contains every other development preset', () => {
    for (const name of ['dev-node', 'dev-python', 'dev-go', 'dev-rust'] as const)
      expect(presets.dev.allowedCommands).toEqual(expect.arrayContaining([...presets[name].allowedCommands]));
  });
});
