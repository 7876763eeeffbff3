import { expect, test } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import { prepareServer } from './prepare-server.ts';

const report = { supervision: 'group', sandbox: 'off', network: 'on', gaps: ['something'] };
const engine = { warmUp: async () => {}, report: async () => report } as unknown as Engine;

async function logged(deps: Parameters<typeof prepareServer>[0]): Promise<readonly string[]> {
  const lines: string[] = [];
  await prepareServer(deps, (message) => lines.push(message));
  return lines;
}

test('T9: a server logs what it detected, and why other terminals cannot reach it', async () => {
  const ready = 'ready: supervision group, sandbox off, network on; gap: something';
  expect(await logged({ engine: async () => engine, openControl: async () => {} })).toEqual([ready]);
  const openControl = async () => {
    throw new NacreError('settings_invalid', 'The socket is too long.', { hint: 'Shorten it.' });
  };
  expect(await logged({ engine: async () => engine, openControl })).toEqual([
    'warning: other terminals cannot reach this server. The socket is too long. Shorten it.',
    ready,
  ]);
});

test('without an engine nothing is logged', async () => {
  expect(
    await logged({ engine: () => Promise.reject(new Error('none')), openControl: async () => {} }),
  ).toEqual([]);
});
