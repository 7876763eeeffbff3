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
  const describeFor = (path: string) => describeNewerCopy('1.2.0', program, path);

  it('returns nothing for this copy, an older copy, or another package named nacre', () => {
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
    expect(describeFor(paths.join(':'))).toBeUndefined();
  });

  it('returns the newest copy on the PATH or in the global folder of this Node', () => {
    const newer = bin('g', install(join(root, 'new'), '{"name":"nacre","version":"1.10.0"}'));
    const newest = bin('h', install(join(root, 'newest'), '{"name":"nacre","version":"2.0.0"}'));
    expect(describeFor(newer)).toBe(
      `nacre 1.10.0 is installed in ${join(root, 'new')}, but this is 1.2.0 in ${join(root, 'own')}. To use the newer one, run its nacre init for each client, or uninstall this one.`,
    );
    expect(describeFor(`${newer}:${newest}`)).toContain('nacre 2.0.0 is');
    install(join(root, 'prefix/lib/node_modules/nacre'), '{"name":"nacre","version":"3.0.0"}');
    expect(describeFor('')).toContain(
      `nacre 3.0.0 is installed in ${join(root, 'prefix/lib/node_modules/nacre')}`,
    );
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
  ])('%s is later than %s: %s', (version, than, expected) => {
    expect(isNewer(version, than)).toBe(expected);
  });
});
