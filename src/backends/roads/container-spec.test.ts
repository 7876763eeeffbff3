import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import type { ContainerRoad } from '../../contract/machine.ts';
import { type ContainerPlace, toContainerSpec } from './container-spec.ts';

const road: ContainerRoad = {
  ...{ kind: 'docker', image: 'node:22', pull: 'missing', network: 'none', mount: 'workspace' },
  ...{ mounts: [], env: {}, isReadOnly: false },
};
const cwd = temporaryFolder();
const place: ContainerPlace = {
  ...{ name: 'box', cwd, home: '/home/me', uid: 1000, gid: 1000, isRootless: false, hasInit: true },
};
const specOf = (more: Partial<ContainerRoad> = {}, where: Partial<ContainerPlace> = {}) =>
  toContainerSpec({ ...road, ...more }, { ...place, ...where });

test('a container has no privileges, ends with nothing left, and names its server', () => {
  expect(specOf()).toMatchObject({
    Labels: { 'io.github.nacre.server': expect.stringContaining(` ${process.pid} `) },
    HostConfig: {
      ...{ AutoRemove: true, Init: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'] },
      Mounts: [{ Type: 'bind', Source: cwd, Target: cwd, ReadOnly: false }],
    },
  });
});

test.each([
  ['the owner of the workspace', {}, {}, '1000:1000'],
  ['root of a rootless engine, which is the owner', {}, { isRootless: true }, '0:0'],
  ['the user of the image if the server is root', {}, { uid: 0 }, undefined],
  ['the user of the image without a workspace', { mount: 'none' }, {}, undefined],
  ['the user of the settings', { user: 'dev' }, {}, 'dev'],
] as const)('commands run as %s', (_, more, where, user) => {
  expect(specOf(more, where).User).toBe(user);
});

test.each(['/', '/home/me', '/home', '/etc'])('the directory %s is not mounted', (folder) => {
  expect(() => specOf({}, { cwd: folder })).toThrow('is too wide to be mounted');
});

test('~ in mounts is the home of the server, and a read-only root has a writable /tmp', () => {
  const mounts = [{ source: '~/data', target: '/data', isReadOnly: true }];
  expect(specOf({ mounts, mount: 'none', isReadOnly: true }).HostConfig).toMatchObject({
    Mounts: [{ Source: '/home/me/data', Target: '/data', ReadOnly: true }],
    ReadonlyRootfs: true,
    Tmpfs: { '/tmp': expect.stringContaining('exec') },
  });
});
