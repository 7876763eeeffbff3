import { expect, test } from 'vitest';
import { withoutInherited } from './inherited-descriptors.ts';

test('inherited descriptors become /dev/null, and those in `stdio` stay', () => {
  const shielded = withoutInherited([7, 8, 9, 'ignore', 10], [2, 3, 4, 6]);
  expect(shielded).toEqual([7, 8, 9, expect.any(Number), 10, 'ignore', shielded[3]]);
  expect(withoutInherited([7, 8, 9], [])).toEqual([7, 8, 9]);
});
