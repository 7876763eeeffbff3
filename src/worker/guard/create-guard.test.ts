import { expect, test } from 'vitest';
import { builtGuard } from '../../../tests/support/build.ts';
import { runChild } from '../../../tests/support/child.ts';

test('a guard that cannot be tested for lack of descriptors ends neither the process nor later tests', async () => {
  const found = await runChild('guard-at-limit', { ulimits: ['-n 64'], args: [builtGuard] });
  expect(found).toEqual({ starved: 'resources_unavailable', next: 'answered' });
});
