import { expect, test } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import { getReady } from './get-ready.ts';

const report = { supervision: 'group', sandbox: 'off', network: 'on', gaps: ['something'] };
const engine = { warmUp: async () => {}, report: async () => report } as unknown as Engine;

async function sayings(deps: Parameters<typeof getReady>[0]): Promise<readonly string[]> {
  const said: string[] = [];
  await getReady(deps, (message) => said.push(message));
  return said;
}

test('T9: a server says what it found, and why other terminals cannot reach it', async () => {
  const found = 'ready: supervision group, sandbox off, network on; gap: something';
  expect(await sayings({ engine: async () => engine, openControl: async () => {} })).toEqual([found]);
  const openControl = async () => {
    throw new NacreError('settings_invalid', 'The socket is too long.', { hint: 'Shorten it.' });
  };
  expect(await sayings({ engine: async () => engine, openControl })).toEqual([
    'warning: other terminals cannot reach this server. The socket is too long. Shorten it.',
    found,
  ]);
});

test('without an engine it is left to the first command to say why', async () => {
  expect(
    await sayings({ engine: () => Promise.reject(new Error('none')), openControl: async () => {} }),
  ).toEqual([]);
});
