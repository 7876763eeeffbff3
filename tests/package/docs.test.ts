// The documentation in the package: messages name its pages, and its links work without the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pack, unpackInto } from '../support/packed.ts';
import { anchorsOf, linksOf } from '../support/pages.ts';

const packed = pack();
const folder = unpackInto(packed.folder, packed);
const pages = packed.files.filter((path) => path.endsWith('.md') && !path.startsWith('dist/'));

test('every page that a message of nacre names is in the package', () => {
  const code = readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.js'));
  const named = code.flatMap((name) => [
    ...readFileSync(join(folder, 'dist', name), 'utf8').matchAll(/docs\/[\w/-]+\.md/g),
  ]);
  const paths = [...new Set(named.map(([path]) => path))];
  expect(paths).toContain('docs/guide/http.md');
  expect(paths.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
});

test('every link in the package leads to a file in it, or to a website', () => {
  expect(pages).toContain('README.md');
  expect(pages).toContain('docs/guide/functions.md');
  const broken = pages.flatMap((page) =>
    linksOf(join(folder, page))
      .filter((link) => !/^https:/.test(link) && !works(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

function works(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(folder, page) : join(folder, page, '..', path);
  return existsSync(target) && (anchor === undefined || anchorsOf(target).includes(anchor));
}
