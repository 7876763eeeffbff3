import { describe, expect, it } from 'vitest';
import type { Change, CommandChanges } from '../../contract/changes.ts';
import { summariseChanges, toChangesReply } from './describe-changes.ts';

const toChanges = (paths: readonly string[], conflicts: readonly string[] = []): CommandChanges => ({
  id: 'cmd_1',
  state: 'held',
  created: paths.length,
  changed: 0,
  deleted: 0,
  mode: 0,
  bytes: 0,
  changes: paths.map((path): Change => ({ kind: 'created', path })),
  conflicts,
});

describe('the changes in a reply', () => {
  it('are bounded in size, however long the paths are, and say how many are left out', () => {
    const long = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(4_000, 'x'));
    const reply = toChangesReply(toChanges(long, long));
    expect(reply).toMatchObject({ created: 20, more_paths: 19, more_conflicts: 19 });
    expect(JSON.stringify(reply).length).toBeLessThan(9_000);
  });

  it('list short paths completely', () => {
    const reply = toChangesReply(toChanges(['a', 'b'], ['a']));
    expect(reply).toEqual({
      state: 'held',
      id: 'cmd_1',
      created: 2,
      paths: ['+ a', '+ b'],
      conflicts: ['a'],
    });
  });

  it('contain no control sequences of file names in a sentence', () => {
    expect(summariseChanges(toChanges(['a'], ['\u001b[2Ja']))).toContain('\\u{1b}[2Ja');
  });
});
