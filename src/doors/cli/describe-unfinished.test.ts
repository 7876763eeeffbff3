import { expect, test } from 'vitest';
import { describeUnfinished } from './describe-unfinished.ts';

test('commands without a recorded end are named by what is known about them', () => {
  const kept = [
    { id: 'cmd_1', state: 'running' },
    { id: 'cmd_2', state: 'ended' },
    { id: 'cmd_3', state: 'lost' },
  ] as const;
  const ids = ['cmd_1', 'cmd_2', 'cmd_3', 'cmd_4', 'cmd_5', 'cmd_6', 'cmd_7', 'cmd_8'];
  expect(describeUnfinished(ids, kept)).toEqual([
    expect.stringMatching(/ that still run and will be recorded: cmd_1\.$/),
    expect.stringMatching(/ have ended, .*: cmd_2\.$/),
    expect.stringMatching(/ were lost with their worker, .*: cmd_3\.$/),
    expect.stringMatching(/ was killed or could not write its log, .*: cmd_4, cmd_5, cmd_6 and 2 more\.$/),
  ]);
  expect(describeUnfinished([], kept)).toEqual([]);
});
