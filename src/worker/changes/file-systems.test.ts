import { execFileSync, spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { describeTree, runDirectly, runInLayer } from '../../../tests/support/layered.ts';
import { needRoot, type Skippable } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { ChangesStore } from './changes-store.ts';
import { LayerHelper } from './layer-helper.ts';

/** File systems and the smallest size that each of them accepts. */
const fileSystems = [
  { type: 'ext4', megabytes: 16, options: ['-q', '-m', '0'] },
  { type: 'xfs', megabytes: 320, options: ['-q'] },
  { type: 'btrfs', megabytes: 128, options: ['-q'] },
  { type: 'tmpfs', megabytes: 8, options: [] },
] as const;
type FileSystem = (typeof fileSystems)[number];

const helper = new LayerHelper();
afterEach(() => helper.close());

// Skips the test where the file system cannot be made or mounted.
function mountNew({ type, megabytes, options }: FileSystem, test: Skippable): string {
  needRoot(test);
  const folder = temporaryFolder();
  const [image, mount] = [join(folder, 'image'), join(folder, 'mount')];
  mkdirSync(mount);
  if (type !== 'tmpfs') {
    writeFileSync(image, '');
    truncateSync(image, megabytes * 1_048_576);
    const made = spawnSync(`mkfs.${type}`, [...options, image]);
    test.skip(made.status !== 0, `there is no mkfs.${type}`);
  }
  const what = type === 'tmpfs' ? ['-o', `size=${megabytes}m`, 'tmpfs'] : ['-o', 'loop', image];
  const mounted = spawnSync('mount', ['-t', type, ...what, mount], { encoding: 'utf8' });
  test.skip(mounted.status !== 0, `${type} cannot be mounted: ${mounted.stderr}`);
  onTestFinished(() => void execFileSync('umount', ['-l', mount]));
  return mount;
}

function createStore(mount: string): ChangesStore {
  const limits = { maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 };
  return new ChangesStore({ stateDir: join(mount, 'state'), instance: 'test', ...limits }, helper);
}

async function runHeld(store: ChangesStore, folder: string, script: string): Promise<string> {
  const layer = store.open([folder]);
  store.begin(layer, 'cmd_1');
  await runInLayer(layer, script);
  await store.finish(layer, { id: 'cmd_1', text: script, mode: 'hold' });
  return 'cmd_1';
}

const prepare = `mkdir -p workspace/sub/deep workspace/gone workspace/readme; cd workspace; echo a > a; echo b > b
  echo c > sub/c; echo d > sub/deep/d; echo g > gone/g; ln -s a link; ln b hard; truncate -s 1M holes; echo r > readme/r
  echo old > File; echo secret > secret; chmod 000 secret; touch -d 2001-02-03 b; mkfifo pipe; touch $'new\nline' $'bad\xff'`;

const script = `echo more >> a; rm hard; echo new > sub/new; rm -r gone; mkdir gone; echo h > gone/h; ln -sf b link
  mv File file; rm -r readme; echo text > readme; rm b; mkdir b; echo i > b/i; ln sub/c sub/c2; truncate -s 2M holes
  truncate -s 8M sparse; touch -d 2010-01-02 sub/deep/d; chmod 400 secret; rm pipe; mkfifo sub/pipe; mknod null c 1 3
  perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket", Listen => 1)'; echo x > $'new\nline'; rm $'bad\xff'`;

describe('the store on ext4', () => {
  it('creates the folders of layers apart from other folders', async (test) => {
    const mount = mountNew(fileSystems[0], test);
    runDirectly(mount, prepare);
    const store = createStore(mount);
    await runHeld(store, join(mount, 'workspace'), 'echo more >> a');
    const layers = join(mount, 'state/changes/layers');
    expect(execFileSync('lsattr', ['-d', layers], { encoding: 'utf8' })).toMatch(/^\S*T/);
  });
});

describe('a subvolume of btrfs', () => {
  it('is a workspace only with a writable folder next to it, and changes in one inside of the workspace stay held', async (test) => {
    const mount = mountNew(fileSystems[2], test);
    const [volume, workspace] = [join(mount, 'volume'), join(mount, 'workspace')];
    mkdirSync(workspace);
    const isMade = (path: string) => runDirectly(mount, `btrfs subvolume create ${path}`) === 0;
    test.skip(!isMade(volume) || !isMade(join(workspace, 'inner')), 'there is no btrfs program');
    const store = createStore(mount);
    expect(() => store.open([volume])).toThrow('there is no writable folder outside of');
    const id = await runHeld(store, workspace, 'echo a > a; echo i > inner/i');
    await expect(store.apply({ id })).rejects.toThrow('inner/i: Invalid cross-device link, because it is in');
    expect(readdirSync(workspace)).toEqual(['inner']);
    expect(await store.apply({ id, paths: ['a'] })).toMatchObject({ state: 'partial', created: 1 });
    await store.close();
  });
});

describe.each(fileSystems)('a workspace on $type', (fileSystem) => {
  it('gets exactly what a held command would have done, and is restored by undoing it', async (test) => {
    const mount = mountNew(fileSystem, test);
    runDirectly(mount, prepare);
    const [workspace, copy] = [join(mount, 'workspace'), join(mount, 'copy')];
    execFileSync('cp', ['-a', workspace, copy]);
    const before = describeTree(workspace, { times: true });
    const store = createStore(mount);
    const id = await runHeld(store, workspace, script);
    expect(describeTree(workspace, { times: true })).toEqual(before);
    expect(await store.apply({ id })).toMatchObject({ state: 'applied', conflicts: [] });
    runDirectly(copy, script);
    const after = describeTree(workspace);
    expect(after).toEqual(describeTree(copy));
    expect(lstatSync(join(workspace, 'sparse')).blocks).toBeLessThan(64);
    expect(lstatSync(join(workspace, 'sub/deep/d')).mtime.getUTCFullYear()).toBe(2010);
    expect(await store.undo({ id })).toMatchObject({ state: 'held', conflicts: [] });
    expect(describeTree(workspace, { times: true })).toEqual(before);
    expect(lstatSync(join(workspace, 'holes')).blocks).toBeLessThan(64);
  });

  it('is unchanged if the disk is full while changes are applied, and they can be applied when there is space', async (test) => {
    const mount = mountNew(fileSystem, test);
    runDirectly(mount, prepare);
    const workspace = join(mount, 'workspace');
    const store = createStore(mount);
    runDirectly(workspace, 'for d in 1 2 3 4 5 6 7 8; do mkdir $d; echo n > $d/n; done');
    // Times of folders are not restored after an error.
    const before = describeTree(workspace);
    const change = 'for d in 1 2 3 4 5 6 7 8; do echo m > $d/n; echo n > $d/new; done; rm a; mkdir a';
    const id = await runHeld(store, workspace, change);
    // The folder that overlayfs needed is removed in the background.
    await store.close();
    const [all, small] = ['cat /dev/zero > fill/all', 'n=0; while echo $n > fill/$n; do n=$((n + 1)); done'];
    runDirectly(mount, `mkdir fill; ${all}; sync; ${small}; sync`);
    const apply = () =>
      store.apply({ id }).then(
        ({ state }) => state,
        (error: Error) => error.message,
      );
    let failures = 0;
    for (let end = await apply(); end !== 'applied'; end = await apply()) {
      failures += 1;
      expect(end).toContain('No space left on device');
      expect(describeTree(workspace), `after ${failures} failures`).toEqual(before);
      expect(await store.list()).toMatchObject([{ id, state: 'held' }]);
      truncateSync(join(mount, 'fill/all'), lstatSync(join(mount, 'fill/all')).size - 4_096);
    }
    expect(failures).toBeGreaterThan(0);
    expect(readFileSync(join(workspace, '1/n'), 'utf8')).toBe('m\n');
    rmSync(join(mount, 'fill'), { recursive: true });
    expect(await store.undo({ id })).toMatchObject({ state: 'held', conflicts: [] });
    expect(describeTree(workspace)).toEqual(before);
  }, 120_000);
});
