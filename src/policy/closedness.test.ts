import { describe, expect, test } from 'vitest';
import { closedness } from './closedness.ts';
import { presets } from './presets.ts';
import { plainPrograms } from './programs/plain-programs.ts';

describe('closedness', () => {
  test.each(['ls', 'grep', 'git', 'find', 'sed', 'jq', 'curl', 'git status', '/usr/bin/ls', 'cd', 'gcc'])(
    '%s is closed',
    (entry) => {
      expect(closedness([entry])).toMatchObject({ closed: true, open: [] });
    },
  );

  test.each(['npm', 'make', 'python3', 'node', 'cargo', 'bash', 'docker', './x', '*', 'no-such-program'])(
    '%s is open, with a reason',
    (entry) => {
      const { closed, open } = closedness(['ls', entry]);
      expect(closed).toBe(false);
      expect(open).toEqual([{ program: entry, reason: expect.any(String) }]);
    },
  );

  test('collects the helpers of all programs', () => {
    const { helpers } = closedness(['git', 'ls', 'man']);
    expect(helpers).toEqual(expect.arrayContaining(['less', 'ssh', 'groff']));
    expect(closedness(['ls', 'cat']).helpers).toEqual([]);
  });

  test('an empty list is closed', () => {
    expect(closedness([]).closed).toBe(true);
  });

  test('the presets for reading and for git are closed, those for development are open', () => {
    expect(closedness(presets['read-only'].allowedCommands).open).toEqual([]);
    expect(closedness(presets.git.allowedCommands).open).toEqual([]);
    expect(closedness(presets['dev-node'].allowedCommands).closed).toBe(false);
  });

  test('plain programs are closed and need no helper', () => {
    expect(closedness(plainPrograms)).toEqual({ closed: true, helpers: [], open: [] });
  });
});
