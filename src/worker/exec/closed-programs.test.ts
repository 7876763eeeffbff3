// Ordinary uses of closed programs, each under a list that contains only what the command names: the kernel must let the
// helpers run that the program needs on this distribution.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { needLandlock, needPrograms } from '../../../tests/support/needs.ts';
import { ordinaryUses } from '../../../tests/support/ordinary-uses.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { closedPrograms } from '../../policy/closed-programs.ts';
import { plainPrograms } from '../../policy/programs/plain-programs.ts';
import { findProgram } from '../machine/inspect.ts';

beforeEach((context) => needLandlock(context));

// One worker for all: its list follows the command, as that of a server follows `nacre allow`.
let here: TestWorker;
let allow = execAllowOf([]);
beforeAll(() => {
  here = createTestWorker({ highestLevel: 'namespace', exec: 'auto', execAllow: () => allow() });
});
afterAll(() => here.close());

describe('a closed program does its ordinary work under enforcement', () => {
  test.for(ordinaryUses)('$names: $script', async ({ names, script }, context) => {
    needPrograms(context, ...names.split(' '));
    allow = execAllowOf(names.split(' '));
    const cwd = mkdtempSync(join(here.folder, 'use-'));
    const { state, stderr } = await here.run(script, { cwd });
    expect(state.enforcement?.exec).toBe('enforced');
    expect(state.end?.deniedPrograms).toBeUndefined();
    expect(stderr).not.toContain('Permission denied');
    expect([state.end?.exitCode, stderr]).toEqual([0, expect.any(String)]);
  });

  test('every other one that is installed prints its version, or says that it has none', async () => {
    allow = execAllowOf(others);
    const { state, stderr } = await here.run(
      `for one in ${others.join(' ')}; do "$one" --version < /dev/null > /dev/null 2>> errors; done; printf '' >> errors; echo "$(<errors)" >&2`,
    );
    expect(state.end?.deniedPrograms).toBeUndefined();
    expect(stderr).not.toContain('Permission denied');
  });

  test('programs that are not installed are named', ({ skip }) => {
    const missing = closed.filter((name) => !isInstalled(name));
    skip(missing.length > 0, `not installed, so not run: ${missing.join(' ')}`);
  });
});

const closed = [...closedPrograms, ...plainPrograms];
const used = new Set(ordinaryUses.flatMap(({ names }) => names.split(' ')));
const others = closed.filter((name) => !used.has(name) && isInstalled(name));

function isInstalled(name: string): boolean {
  return findProgram(name, process.env.PATH ?? '') !== null;
}
