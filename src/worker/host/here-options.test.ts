import { expect, test } from 'vitest';
import { expandQueryHome, findHere, toFarMachine, toHereOptions, withAskedPaths } from './here-options.ts';

const here = findHere('/var/nacre', { environment: { HOME: '/' }, execGuard: '/opt/nacre/exec-guard.js' });

test('a worker for a server elsewhere has the paths of its own machine', () => {
  expect(toHereOptions(here, { cwd: '/usr' })).toMatchObject({
    ...{ home: '/', cwd: '/usr', stateDir: '/var/nacre/state', ownFiles: ['/var/nacre'] },
    ...{ environment: { HOME: '/' }, execGuard: '/opt/nacre/exec-guard.js' },
  });
});

test.each([{}, { cwd: '/no/such/folder' }, { cwd: 'relative' }])(
  'commands run in the home directory if the server names %o',
  (elsewhere) => {
    expect(toFarMachine(here, elsewhere)).toMatchObject({ home: '/', cwd: '/' });
  },
);

test('a tilde is the home directory of the worker, and facts name directories as they were asked for', () => {
  const query = { cwd: '~/jobs', roots: ['~', '/srv', '~other'], programs: [] };
  expect(expandQueryHome(query, '/home/ann')).toMatchObject({
    cwd: '/home/ann/jobs',
    roots: ['/home/ann', '/srv', '~other'],
  });
  const place = (path: string) => ({ asked: path, path });
  const facts = {
    cwd: place('/home/ann/jobs'),
    roots: [place('/home/ann')],
    home: '/home/ann',
    programs: {},
  };
  expect(withAskedPaths(facts, query)).toMatchObject({
    cwd: { asked: '~/jobs', path: '/home/ann/jobs' },
    roots: [{ asked: '~', path: '/home/ann' }],
  });
});
