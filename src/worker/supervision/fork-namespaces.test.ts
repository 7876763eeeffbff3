import { expect, test } from 'vitest';
import { plainSandboxPlan } from '../../../tests/support/plain-sandbox-plan.ts';
import type { Layer } from '../changes/layer.ts';
import { ForkNamespaces } from './fork-namespaces.ts';
import type { ForkNamespace } from './fork-server-script.ts';

const layer = {
  folders: [{ folder: '/w', upper: '/s/new', work: '/s/work', below: ['/s/b'], aliases: [['/w/x', '/y']] }],
} as unknown as Layer;
const layered = { ...plainSandboxPlan, layer };

async function ready(now?: () => number): Promise<ForkNamespaces> {
  const namespaces = new ForkNamespaces(now);
  expect(namespaces.of(plainSandboxPlan, undefined)).toBeUndefined();
  namespaces.noteStarted({ ready: Promise.resolve(true) }, undefined);
  await Promise.resolve();
  return namespaces;
}

test('the fork server mounts layers; root loses the capabilities that could unmount them', async () => {
  const namespaces = await ready();
  const words = ['/w', '/s/new', '/s/work', '1', '/s/b', '1', '/w/x', '/y'];
  expect(namespaces.of(layered, undefined)).toMatchObject({ layers: words, droppedCapabilities: [] });
  const asRoot = namespaces.of({ ...layered, isRoot: true }, undefined);
  expect(asRoot?.droppedCapabilities).toEqual([21, 19, 18, 2, 16, 17]);
  expect(namespaces.of({ ...plainSandboxPlan, isRoot: true }, undefined)?.droppedCapabilities).toEqual([]);
});

test('where the kernel refuses overlays, bubblewrap makes the namespaces of layers, and no others', async () => {
  const namespaces = await ready();
  const fail = () => namespaces.noteFailed(namespaces.of(layered, undefined) as ForkNamespace);
  for (let count = 0; count < 3; count += 1) fail();
  expect(namespaces.of(layered, undefined)).toBeUndefined();
  const plain = namespaces.of(plainSandboxPlan, undefined);
  expect(plain).toBeDefined();
  namespaces.noteStarted({ ready: Promise.resolve(true) }, plain);
  expect(namespaces.of(layered, undefined)).toBeUndefined();
});

test('after failures, one namespace a minute is tried, because processes may only have been short', async () => {
  let now = 0;
  const namespaces = await ready(() => now);
  const plain = namespaces.of(plainSandboxPlan, undefined) as ForkNamespace;
  for (let count = 0; count < 3; count += 1) namespaces.noteFailed(plain);
  now = 59_000;
  expect(namespaces.of(plainSandboxPlan, undefined)).toBeUndefined();
  now = 60_000;
  expect(namespaces.of(plainSandboxPlan, undefined)).toBeDefined();
  namespaces.noteFailed(plain);
  expect(namespaces.of(plainSandboxPlan, undefined)).toBeUndefined();
  now = 120_000;
  namespaces.noteStarted({ ready: Promise.resolve(true) }, plain);
  expect(namespaces.of(plainSandboxPlan, undefined)).toBeDefined();
});
