import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { removeTemporaryFolders, temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { type ChangesRecord, openFarChanges } from './far-changes.ts';

afterAll(removeTemporaryFolders);

const counts = { created: 1, changed: 0, deleted: 0, mode: 0 };
const toRecord = (id: string, endedAt: string): ChangesRecord => ({
  ...{
    id,
    machine: 'h1',
    state: 'held',
    command: 'make',
    folders: [],
    endedAt,
    onTopOf: [],
    bytes: 1,
    counts,
  },
});
const result = { ...counts, bytes: 1, changes: [], conflicts: [] };

test('records are shared by the servers of a state folder, and sorted by their time', () => {
  const folder = temporaryFolder();
  const [one, other] = [openFarChanges(folder), openFarChanges(folder)];
  expect(one.list()).toEqual([]);
  one.add(toRecord('cmd_2', '2026-01-02T00:00:00.000Z'));
  one.add(toRecord('cmd_1', '2026-01-01T00:00:00.000Z'));
  expect(other.list().map(({ id }) => id)).toEqual(['cmd_1', 'cmd_2']);
  other.update({ ...result, id: 'cmd_1', state: 'applied' });
  expect(one.find('cmd_1')).toMatchObject({ state: 'applied', machine: 'h1' });
  other.update({ ...result, id: 'cmd_1', state: 'gone' });
  expect(one.find('cmd_1')).toBeUndefined();
  expect(readdirSync(join(folder, 'machines', 'changes'))).toEqual(['cmd_2']);
});

test('an id that cannot be a file name is not found, and nothing is written for it', () => {
  const folder = temporaryFolder();
  const records = openFarChanges(folder);
  records.add(toRecord('../x', ''));
  records.remove('../x');
  expect(records.find('../../etc/passwd')).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});
