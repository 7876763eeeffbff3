import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { needLevel } from '../support/needs.ts';

let here: TestServer;
let project = '';

beforeEach((context) => needLevel(context, 'namespace'));
beforeAll(async () => {
  here = await serve({ env: { SHELL_ALLOWLIST: 'rm,ls', NACRE_WORKSPACE: 'project' } });
  project = join(here.cwd, 'project');
  mkdirSync(project);
});
afterAll(async () => expect(await here.close()).toEqual([]));

const get = (path: string) => here.send(path, { headers: here.bearer });
/** Deletes the file `a`, but holds the change; returns its id. */
async function hold(): Promise<string> {
  writeFileSync(join(project, 'a'), 'a\n');
  const { body } = await here.shell('rm', ['a'], { cwd: project, changes: 'hold' });
  expect(body).toMatchObject({ code: 0, changes: { state: 'held', deleted: 1 } });
  return String((body as { changes: { id: string } }).changes.id);
}

describe('the routes below /api/changes', () => {
  test('list, show, apply, undo and discard the changes of a command', async () => {
    const id = await hold();
    expect(existsSync(join(project, 'a'))).toBe(true);
    expect((await get('/api/changes')).body).toMatchObject({ changes: [{ id, state: 'held' }] });
    const shown = await get(`/api/changes/${id}`);
    expect(shown.body).toMatchObject({ changes: [{ path: 'a', kind: 'deleted' }] });
    const applied = await here.post(`/api/changes/${id}/apply`, {});
    expect([applied.status, applied.body.state]).toEqual([200, 'applied']);
    expect(existsSync(join(project, 'a'))).toBe(false);
    expect((await here.post(`/api/changes/${id}/undo`, {})).body).toMatchObject({ state: 'held' });
    expect(existsSync(join(project, 'a'))).toBe(true);
    expect((await here.post(`/api/changes/${id}/discard`, {})).body).toMatchObject({ state: 'gone' });
    expect((await get('/api/changes')).body).toEqual({ changes: [] });
  });

  test('refuse strangers, unknown ids and unknown fields', async () => {
    const id = await hold();
    expect((await here.send('/api/changes')).status).toBe(401);
    expect((await here.send(`/api/changes/${id}/apply`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await get('/api/changes/cmd_000000000000')).status).toBe(404);
    expect((await here.post(`/api/changes/${id}/apply`, { all: true })).status).toBe(400);
    expect((await here.post(`/api/changes/${id}/apply`, { paths: ['/etc'] })).status).toBe(400);
    expect(existsSync(join(project, 'a'))).toBe(true);
  });

  test('are not part of the reply to a command that runs directly', async () => {
    writeFileSync(join(project, 'b'), '');
    const { body } = await here.shell('rm', ['b'], { cwd: project });
    expect(body).not.toHaveProperty('changes');
    expect(existsSync(join(project, 'b'))).toBe(false);
  });
});
