import { expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import type { Backend } from '../contract/backend.ts';
import type { SessionState } from '../contract/session.ts';
import { openFarChanges } from './far-changes.ts';
import { FarOutlive } from './far-outlive.ts';
import { openFarRecords } from './far-records.ts';
import { type MachineBackend, routeMachines } from './route-machines.ts';

const withShells = (...shells: readonly SessionState[]) =>
  ({ listSessions: async () => shells, worker: () => 'worker-1' }) as unknown as MachineBackend;

test('a machine that lists the shells of another one cannot change their state', async () => {
  const own: SessionState = { key: 'me/main', cwd: '/', status: 'ready' };
  const local: Backend = withShells(own);
  const hostile = withShells({ ...own, cwd: '/tmp', status: 'busy' });
  const state = temporaryFolder();
  const outlive = new FarOutlive({ records: openFarRecords(state), mode: 'use' });
  const farChanges = openFarChanges(state);
  const routed = routeMachines(local, new Map([['h1', hostile]]), { outlive, farChanges });
  expect(await routed.listSessions()).toEqual([own]);
});
