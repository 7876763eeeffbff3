import { expect, test } from 'vitest';
import { supervisionUnavailable } from './start-failures.ts';

test.each([
  ["bwrap: Can't fork for pid 1: Resource temporarily unavailable", 'resources_unavailable'],
  ['bwrap: Creating new namespace failed: Cannot allocate memory', 'resources_unavailable'],
  ['bwrap: No permissions to create a new namespace', 'isolation_unavailable'],
])('a namespace that fails with "%s" is %s', (reason, code) => {
  const error = supervisionUnavailable('namespace', reason);
  expect(error.code).toBe(code);
  expect(error.message).toContain(reason);
});

test('a namespace that ends without a message gets a reason that fits a slow end as well', () => {
  expect(supervisionUnavailable('namespace', ' \n').message).toBe(
    'Supervision at level namespace could not be started for this command: it ended without a message, as at a limit on processes or memory',
  );
});
