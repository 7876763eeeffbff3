import { expect, test } from 'vitest';
import type { Place } from '../contract/facts.ts';
import { decideWorkspace } from './decide-place.ts';

const at = (path: string): Place => ({ asked: path, path });
const gone = (asked: string): Place => ({ asked, problem: 'missing' });
const facts = (workspace: readonly Place[] | undefined, roots: readonly Place[] = []) => ({
  cwd: at('/srv'),
  home: '/home/me',
  programs: {},
  workspace,
  roots,
});

test('without roots, every existing folder of the client is accepted', () => {
  expect(decideWorkspace(facts([at('/a'), gone('/b')]), [])).toEqual(['/a']);
  expect(decideWorkspace(facts(undefined), [])).toEqual([]);
});

test('with roots, a folder is accepted only if it is inside a root of every group', () => {
  const workspace = [at('/srv/a'), at('/srv'), at('/home/me/a'), at('/srvx')];
  const roots = [at('/srv'), at('/home/me'), at('/srv/a'), gone('/gone')];
  expect(decideWorkspace(facts(workspace, roots.slice(0, 2)), [['/srv', '/home/me']])).toEqual([
    '/srv/a',
    '/srv',
    '/home/me/a',
  ]);
  expect(
    decideWorkspace(facts(workspace, roots), [
      ['/srv', '~'],
      ['/srv/a', '/gone'],
    ]),
  ).toEqual(['/srv/a']);
});
