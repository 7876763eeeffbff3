import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLevel, needPrograms } from '../support/needs.ts';
import { pathWithout } from '../support/path-without.ts';
import { createHome, type Home, runSteps, type StepResult } from '../support/run-steps.ts';
import { users } from '../support/users.ts';
import { withoutNamespaces } from '../support/without-namespaces.ts';

beforeEach((context) => needLevel(context, 'namespace'));

describe.each(users)('E2: the supervision level for user %s', (user) => {
  let here: Home;
  let results: readonly StepResult[] = [];
  let denied: readonly StepResult[] = [];

  /** A PATH on which programs are missing or fail. */
  const createPath = (name: string, without: Parameters<typeof pathWithout>[1]) => {
    mkdirSync(join(here.home, name));
    return pathWithout(join(here.home, name), without);
  };
  beforeAll(async () => {
    here = createHome(user);
    results = await runSteps(here, [
      {},
      { path: createPath('hidden', { hidden: ['bwrap'] }) },
      { path: createPath('broken', { broken: ['bwrap'] }) },
      { path: createPath('denied', { broken: ['bwrap', 'unshare'] }) },
    ]);
    denied = await runSteps(here, [{}, { settings: { sandbox: 'strict' } }], withoutNamespaces);
  }, 60_000);
  afterAll(() => rmSync(here.home, { recursive: true, force: true }));

  test('is namespace if bubblewrap works', () => {
    expect(results[0]?.report).toMatchObject({ supervision: 'namespace' });
  });

  test.each([
    ['is missing', 1],
    ['is not permitted', 2],
  ])('is unshare, with a gap, if bubblewrap %s', (_, step) => {
    expect(results[step]?.report).toMatchObject({ supervision: 'unshare' });
    expect(results[step]?.report.gaps.join(' ')).toContain('not hidden');
  });

  test('is group, with gaps, if namespaces are denied', () => {
    expect(results[3]?.report).toMatchObject({ supervision: 'group' });
    expect(results[3]?.report.gaps.length).toBeGreaterThan(0);
  });

  test('is group if the kernel denies user namespaces, and a sandbox is refused', (context) => {
    needPrograms(context, 'setpriv', 'unshare');
    expect(denied[0]?.report).toMatchObject({ supervision: 'group', sandbox: 'off' });
    expect(denied[0]?.report.gaps.join(' ')).toContain('cannot be found');
    expect(denied[1]?.error).toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('sysctl -w user.max_user_namespaces'),
    });
  });
});
