import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { findInnerMount, findStore, type MountPoint, parseMountInfo } from './find-store.ts';

const mount = (path: string, type = 'ext4', device = '8:1'): MountPoint => ({
  id: path,
  device,
  root: '/',
  path,
  type,
});

let base = '';
let workspace = '';
beforeEach(() => {
  base = realpathSync(temporaryFolder());
  workspace = join(base, 'mount', 'workspace');
  mkdirSync(workspace, { recursive: true });
});

describe('the store for the layers of a workspace', () => {
  it('is in the state folder on the same mount, also before that exists', () => {
    const preferred = join(base, 'state', 'changes');
    expect(findStore(workspace, preferred, [mount('/')])).toEqual({ path: preferred });
  });

  it('is a hidden folder at the top of the mount of the workspace, if the state folder is on another one', () => {
    const top = join(base, 'mount');
    const found = findStore(workspace, join(base, 'state'), [mount('/'), mount(top, 'tmpfs', '0:40')]);
    const path = join(top, `.nacre-changes-${process.getuid?.()}`);
    expect(found).toEqual({ path });
    expect(existsSync(path)).toBe(true);
  });

  it('does not exist for a workspace on overlayfs, or one that is a mount itself', () => {
    const onOverlay = findStore(workspace, join(base, 'state'), [mount('/', 'overlay')]);
    expect(onOverlay).toEqual({ reason: expect.stringContaining('is on an overlay file system') });
    const itself = findStore(workspace, join(base, 'state'), [mount('/'), mount(workspace, 'ext4', '8:2')]);
    expect(itself).toEqual({ reason: expect.stringContaining('no writable folder outside of') });
  });
});

describe('findInnerMount', () => {
  const mounts = [mount('/'), mount('/w'), mount('/w-other/x'), mount('/v/in ner')];
  it('finds mounts inside of a folder, but neither the folder nor its neighbours', () => {
    expect(findInnerMount('/v', mounts)).toBe('/v/in ner');
    expect(findInnerMount('/w', mounts)).toBeUndefined();
  });
});

describe('parseMountInfo', () => {
  it('decodes paths, and skips optional fields', () => {
    const line = '36 35 98:0 /a\\040b /mnt\\040x\\134y rw,noatime master:1 shared:2 - ext3 /dev/root rw';
    expect(parseMountInfo(`${line}\n`)).toEqual([
      { id: '36', device: '98:0', root: '/a b', path: '/mnt x\\y', type: 'ext3' },
    ]);
  });
});
