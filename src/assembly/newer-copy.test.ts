import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { describeNewerCopy, isNewer } from './newer-copy.ts';

function install(folder: string, manifest: string): string {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  writeFileSync(join(folder, 'dist', 'cli.js'), '');
  return join(folder, 'dist', 'cli.js');
}

describe('describeNewerCopy', () => {
  const root = temporaryFolder();
  const own = install(join(root, 'own'), '{"name":"nacre","version":"1.2.0"}');
  const bin = (name: string, target: string) => {
    mkdirSync(join(root, name), { recursive: true });
    symlinkSync(target, join(root, name, 'nacre'));
    return join(root, name);
  };
  const program = { node: join(root, 'prefix/bin/node'), script: own };
  const tell = (path: string) => describeNewerCopy('1.2.0', program, path);

  it('says nothing where there is only this one, an older one, or something of the same name', () => {
    const paths = [
      bin('a', own),
      bin('b', install(join(root, 'old'), '{"name":"nacre","version":"1.1.9"}')),
      bin('c', install(join(root, 'alien'), '{"name":"pearl","version":"9.0.0"}')),
      bin('d', install(join(root, 'broken'), '{"name":"nacre","version":')),
      bin('e', install(join(root, 'odd'), '{"name":"nacre","version":["9"]}')),
      bin('f', join(root, 'nowhere')),
      'relative',
      '',
    ];
    expect(tell(paths.join(':'))).toBeUndefined();
  });

  it('names the newest that the PATH or the folder of Node leads to', () => {
    const newer = bin('g', install(join(root, 'new'), '{"name":"nacre","version":"1.10.0"}'));
    const newest = bin('h', install(join(root, 'newest'), '{"name":"nacre","version":"2.0.0"}'));
    expect(tell(newer)).toBe(
      `nacre 1.10.0 is installed in ${join(root, 'new')}, and this is 1.2.0 in ${join(root, 'own')}. To use the newer one, run its nacre init for each client, or remove this one.`,
    );
    expect(tell(`${newer}:${newest}`)).toContain('nacre 2.0.0 is');
    install(join(root, 'prefix/lib/node_modules/nacre'), '{"name":"nacre","version":"3.0.0"}');
    expect(tell('')).toContain(`nacre 3.0.0 is installed in ${join(root, 'prefix/lib/node_modules/nacre')}`);
  });
});

describe('isNewer', () => {
  it.each([
    ['1.0.1', '1.0.0', true],
    ['1.10.0', '1.9.9', true],
    ['1.0.0', '1.0.0', false],
    ['1.0.0', '1.0.0-beta.1', true],
    ['1.0.0-beta.1', '1.0.0', false],
    ['1.0.0-beta.10', '1.0.0-beta.9', true],
    ['1.0.0+build', '1.0.0', false],
    ['0.9.0', '1.0.0', false],
  ])('%s after %s: %s', (version, than, expected) => {
    expect(isNewer(version, than)).toBe(expected);
  });
});
