// Every helper process with every fault at every moment (`helper-faults.ts`). The whole table has more than 1,000
// rows, so it runs only with NACRE_FAULTS=1.
import { describe, expect, test } from 'vitest';
import { runChild } from '../support/child.ts';
import { helpers } from '../support/helper-processes.ts';
import { needPrograms } from '../support/needs.ts';
import {
  createWorkerIn,
  type FaultCase,
  faults,
  moments,
  type Place,
  places,
  tryFault,
} from './helper-faults.ts';

const all: readonly FaultCase[] = (Object.keys(places) as Place[]).flatMap((place) =>
  helpers.flatMap((helper) =>
    faults.flatMap((fault) =>
      moments
        .filter((moment) => helper !== 'session shell' || moment === 'session')
        .map((moment) => [place, helper, fault, moment] as const),
    ),
  ),
);
// Every place, helper, fault and moment at least once.
const everyday: readonly FaultCase[] = [
  ['plain', 'fork server', 'SIGKILL', 'running'],
  ['plain', 'fork server', 'SIGKILL', 'starting'],
  ['plain', 'fork server', 'SIGSTOP', 'idle'],
  ['plain', 'fork server', 'EAGAIN', 'session'],
  ['plain', 'fork server', 'ENOMEM', 'idle'],
  ['plain', 'init', 'SIGKILL', 'running'],
  ['plain', 'init', 'SIGSTOP', 'ending'],
  ['plain', 'init', 'SIGKILL', 'terminal'],
  ['plain', 'keeper', 'SIGSTOP', 'running'],
  ['plain', 'keeper', 'SIGKILL', 'idle'],
  ['plain', 'keeper', 'ENOMEM', 'running'],
  ['plain', 'shell', 'SIGKILL', 'idle'],
  ['plain', 'shell', 'SIGSTOP', 'idle'],
  ['plain', 'shell', 'EMFILE', 'starting'],
  ['plain', 'session shell', 'SIGKILL', 'session'],
  ['plain', 'session shell', 'SIGSTOP', 'session'],
  ['room', 'fork server', 'SIGKILL', 'running'],
  ['room', 'supervisor', 'SIGKILL', 'session'],
  ['room', 'supervisor', 'SIGSTOP', 'ending'],
  ['room', 'keeper', 'ENOSPC', 'ending'],
  ['filtered', 'supervisor', 'SIGKILL', 'running'],
  ['tracked', 'fork server', 'SIGKILL', 'starting'],
  ['layered', 'fork server', 'SIGKILL', 'running'],
  ['layered', 'init', 'SIGKILL', 'ending'],
  ['layered', 'keeper', 'SIGKILL', 'running'],
  ['layered', 'keeper', 'ENOSPC', 'ending'],
  ['guarded', 'keeper', 'SIGKILL', 'starting'],
];

describe.concurrent('a helper process that fails', () => {
  test.each(process.env.NACRE_FAULTS === '1' ? all : everyday)(
    '%s: %s gets %s (%s)',
    { timeout: 90_000 },
    async (...row) => {
      const [place, helper, fault, moment] = row as unknown as FaultCase;
      const isFound = await tryFault([place, helper, fault, moment]);
      if (process.env.NACRE_FAULTS !== '1') expect(isFound).toBe(true);
    },
  );
});

test('the fork server mounts the layers of the place `layered`', { timeout: 90_000 }, async () => {
  const here = createWorkerIn('layered');
  const { cwd } = here;
  const run = async (script: string) => (await here.run(script, { cwd })).stdout;
  await run('true');
  expect(await run(`read -rd '' init </proc/1/cmdline; echo "\${init##*/}"; stat -fc %T .`)).toBe(
    'perl\noverlayfs\n',
  );
  await here.close();
});

// The pty package is not found from a bundle in a temporary folder, so there is no row at a terminal.
const starved = ['idle', 'starting', 'running', 'ending', 'session'].join();

describe('as an ordinary user, a helper process that cannot fork (EAGAIN)', () => {
  test.for(helpers.filter((helper) => helper !== 'session shell'))(
    '%s',
    { timeout: 90_000 },
    async (helper) => {
      for (const place of process.env.NACRE_FAULTS === '1' ? ['plain', 'room', 'filtered'] : ['plain'])
        expect(await runChild('starved-user', { args: [place, helper, starved] })).toEqual({});
    },
  );
});

test('prlimit is there', (context) => needPrograms(context, 'prlimit'));
