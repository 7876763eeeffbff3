import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { toIdentity } from '../../contract/session-key.ts';
import { ownIdentity } from '../../support/process-identity.ts';
import { writeEnd, writeSpec } from './kept-job.ts';
import { hasRunningIn, listKept, workersFolder } from './worker-folder.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'nacre-worker-folder-'));
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const caller = { door: 'mcp', client: 'tester' } as const;

/** The folder of a command that a client in `project` has started. */
function keep(id: string, project: string): string {
  const jobs = join(workersFolder(stateDir), 'worker-1', 'jobs');
  mkdirSync(jobs, { recursive: true });
  const identity = toIdentity({ caller, owner: 'mcp' }, project);
  const folder = join(jobs, id);
  writeSpec(folder, {
    id,
    command: { kind: 'shell', script: 'sleep 1' },
    cwd: project,
    stdin: 'empty',
    keeping: { identity, room: 'room', outlives: true, caller },
    link: 'link',
    preparedAt: new Date().toISOString(),
    tombstoneMs: 1_000,
  });
  return folder;
}

const ended = {
  id: 'two',
  end: { exitCode: 0, signal: null, cause: 'exit', endedAt: new Date().toISOString() },
};

test('only a running command of the same project counts', async () => {
  expect(hasRunningIn(stateDir, '/one')).toBe(false);
  keep('one', '/one');
  await writeEnd(keep('two', '/two'), ended as never);
  expect(hasRunningIn(stateDir, '/one')).toBe(true);
  expect(hasRunningIn(stateDir, '/two')).toBe(false);
  expect(hasRunningIn(stateDir, '/three')).toBe(false);
});

test('a command whose end could not be written on a full disk does not run', async () => {
  const folder = keep('full', '/one');
  // This process is the worker.
  writeFileSync(join(workersFolder(stateDir), 'worker-1', 'identity'), JSON.stringify(ownIdentity()));
  expect(listKept(stateDir)).toEqual([{ id: 'full', state: 'running' }]);
  symlinkSync('/dev/full', join(folder, 'end.new'));
  await expect(writeEnd(folder, ended as never)).rejects.toThrow('ENOSPC');
  expect(listKept(stateDir)).toEqual([{ id: 'full', state: 'ended' }]);
  expect(hasRunningIn(stateDir, '/one')).toBe(false);
});
