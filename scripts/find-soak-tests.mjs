import { execFileSync } from 'node:child_process';

/** The test files whose counts depend on `NACRE_SOAK`: those that import tests/support/soak.ts. */
export function findSoakTests() {
  const found = execFileSync(
    'grep',
    ['-rlE', 'support/soak\\.ts|isSoak', '--include=*.test.ts', 'src', 'tests'],
    {
      encoding: 'utf8',
    },
  );
  return found.trim().split('\n');
}
