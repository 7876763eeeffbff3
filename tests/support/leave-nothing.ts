import { afterAll, expect } from 'vitest';
import { openInstanceCount } from '../../src/doors/functions/default-instance.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';

afterAll(() => {
  removeTemporaryFolders();
  // Files of a worker share their modules, so an instance that stays open would be the default of the next file.
  expect(openInstanceCount(), 'nacre instances that the tests of this file left open').toBe(0);
});
