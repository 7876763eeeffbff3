import { expect, test } from 'vitest';
import { foldersAbove, listReadable } from './list-readable.ts';

const folders: Readonly<Record<string, readonly string[]>> = {
  '/': ['etc', 'home', 'usr'],
  '/home/me': ['.ssh', '.config', 'project'],
  '/home/me/.config': ['gh', 'git'],
};
// /home cannot be listed, as with mode 711.
const list = (folder: string) => folders[folder] ?? [];

test('folders above hidden paths are replaced by their entries', () => {
  expect(listReadable(['/home/me/.ssh', '/home/me/.config/gh'], '/', list)).toEqual([
    '/etc',
    '/home/me/.config/git',
    '/home/me/project',
    '/usr',
  ]);
});

test('a hidden path that does not exist yet keeps its folder from being readable as a whole', () => {
  expect(listReadable(['/home/me/.aws'], '/', list)).not.toContain('/home/me');
});

test('names that begin alike are not confused', () => {
  const names = { '/': ['a', 'ab'] };
  expect(listReadable(['/a'], '/', (folder) => (folder === '/' ? names['/'] : []))).toEqual(['/ab']);
});

test('without hidden paths everything is readable', () => {
  expect(listReadable([], '/', list)).toEqual(['/']);
});

test('a folder in a hidden one is readable if the list begins there, except for hidden paths in it', () => {
  expect(listReadable(['/home/me', '/home/me/.config/gh'], '/home/me/.config', list)).toEqual([
    '/home/me/.config/git',
  ]);
});

test('symbolic links are left out', () => {
  expect(listReadable(['/proc/self/nothing-here'])).not.toContain('/proc/self/exe');
});

test('the folders above hidden paths are found without duplicates', () => {
  expect(foldersAbove(['/home/me/.ssh', '/home/me/.config/gh'])).toEqual([
    '/',
    '/home',
    '/home/me',
    '/home/me/.config',
  ]);
});
