import { describe, expect, test } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import type { MachineReport } from '../contract/report.ts';
import type { Engine } from '../engine/engine.ts';
import { prepareServer } from './prepare-server.ts';

interface Detected extends Partial<MachineReport> {
  readonly openControl?: () => Promise<void>;
}

async function logged(
  { openControl = async () => {}, ...found }: Detected,
  more: { noteOnApps?: () => Promise<string> } = {},
): Promise<readonly string[]> {
  const none = { namespaceFault: null, gaps: [] };
  const report = { supervision: 'group', sandbox: 'off', files: 'off', network: 'on', ...none, ...found };
  const engine = { warmUp: async () => {}, report: async () => report } as unknown as Engine;
  const lines: string[] = [];
  const deps = { engine: async () => engine, openControl, ...more };
  await prepareServer(deps, (message) => lines.push(message));
  return lines;
}

test('T9: a server logs what it detected in one line, and why other terminals cannot reach it', async () => {
  const ready = 'ready: supervision group, sandbox off, network on';
  expect(await logged({})).toEqual([ready]);
  expect(await logged({ gaps: ['a'] })).toEqual([`${ready}; nacre doctor lists 1 gap`]);
  expect(await logged({ gaps: ['a', 'b'] })).toEqual([`${ready}; nacre doctor lists 2 gaps`]);
  const openControl = async () => {
    throw new NacreError('settings_invalid', 'The socket is too long.', { hint: 'Shorten it.' });
  };
  expect(await logged({ openControl })).toEqual([
    'warning: other terminals cannot reach this server. The socket is too long. Shorten it.',
    ready,
  ]);
});

test('the line names Landlock if that enforces the sandbox', async () => {
  expect(await logged({ sandbox: 'workspace', files: 'landlock', network: 'off' })).toEqual([
    'ready: supervision group, sandbox workspace (landlock), network off',
  ]);
});

test('the line says if the kernel enforces another list on apps', async () => {
  const deps = { noteOnApps: async () => 'nothing is enforced' };
  expect(await logged({ execNote: 'the list is enforced' }, deps)).toEqual([
    'ready: supervision group, sandbox off, network on; exec auto: the list is enforced; exec auto for POST /api/shell: nothing is enforced',
  ]);
});

describe('bubblewrap', () => {
  const advice = async (kind: 'missing' | 'forbidden') => {
    const namespaceFault = { kind, reason: 'some reason', fix: 'sudo apt-get install bubblewrap' };
    return (await logged({ namespaceFault })).slice(1);
  };

  test('is proposed if it is missing', async () => {
    expect(await advice('missing')).toEqual([
      'worth installing, for sandboxes: sudo apt-get install bubblewrap',
    ]);
  });

  test('is not proposed where it would not work', async () => {
    expect(await advice('forbidden')).toEqual([]);
  });
});

test('without an engine nothing is logged', async () => {
  const lines: string[] = [];
  const none = { engine: () => Promise.reject(new Error('none')), openControl: async () => {} };
  await prepareServer(none, (message) => lines.push(message));
  expect(lines).toEqual([]);
});
