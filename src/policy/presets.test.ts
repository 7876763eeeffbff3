import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { presetNames, presets } from './presets.ts';

describe('presets', () => {
  it.each(presetNames)('%s names each program once, in order', (name) => {
    const { allowedCommands } = presets[name];
    expect(allowedCommands).toEqual([...new Set(allowedCommands)].sort());
  });

  it.each(presetNames)('the guide shows the list of %s as it is', (name) => {
    const guide = readFileSync('docs/guide/policy.md', 'utf8').replace(/\s+/g, ' ');
    expect(guide).toContain(`- **${name}**: ${presets[name].allowedCommands.join(' ')}`);
  });
});
