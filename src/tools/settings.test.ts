import { expect, it } from 'vitest';
import { toFamilies, toolFamilies } from './settings.ts';

it('all means every tool family, and each is offered once', () => {
  expect(toFamilies(['all'])).toEqual([...toolFamilies]);
  expect(toFamilies(['terminal', 'terminal', 'all'])).toEqual([...toolFamilies]);
  expect(toFamilies(['terminal'])).toEqual(['terminal']);
});
