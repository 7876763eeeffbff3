import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { presetNames, presets } from './presets.ts';

describe('presets', () => {
  it.each(presetNames)('%s lists each program once, sorted', (name) => {
    const { allowedCommands } = presets[name];
    expect(allowedCommands).toEqual([...new Set(allowedCommands)].sort());
  });

  it.each(presetNames)('the guide shows the exact list of %s', (name) => {
    const guide = readFileSync('docs/guide/policy.md', 'utf8').replace(/\s+/g, ' ');
    expect(guide).toContain(`- **${name}**: ${presets[name].allowedCommands.join(' ')}`);
  });
});
