import { existsSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, findPages, linksOf } from './support/pages.ts';

const pages = findPages();

test.each(pages)('%s has no broken links', (page) => {
  expect(linksOf(page).filter((link) => !exists(page, link))).toEqual([]);
});

test('every page is linked from the README or a page that it links to', () => {
  const reached = new Set(['README.md']);
  for (const page of reached) {
    if (!page.endsWith('.md')) continue;
    for (const link of linksOf(page)) if (!/^[a-z]+:/.test(link)) reached.add(targetOf(page, link));
  }
  const folders = [...reached].filter((path) => existsSync(path) && statSync(path).isDirectory());
  const isReached = (page: string) =>
    reached.has(page) ||
    folders.some((folder) => page.startsWith(`${normalize(folder)}/`.replace('//', '/')));
  expect(pages.filter((page) => !isReached(page))).toEqual([]);
});

function exists(page: string, link: string): boolean {
  if (/^https:\/\/[\w.-]+(?:\/|$)/.test(link)) return true;
  const target = targetOf(page, link);
  const anchor = link.split('#')[1];
  if (!existsSync(target)) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

function targetOf(page: string, link: string): string {
  const [path = ''] = link.split('#');
  return path === '' ? page : normalize(join(page, '..', path));
}
