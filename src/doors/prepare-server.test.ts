import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { NacreError } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import { prepareServer } from './prepare-server.ts';

const machine = { home: '/', platform: 'darwin', env: { PATH: '' }, isRoot: false };

interface Detected {
  readonly supervision?: string;
  readonly gaps?: readonly string[];
  readonly machine?: Partial<typeof machine>;
  readonly openControl?: () => Promise<void>;
}

async function logged({ supervision = 'group', gaps = [], ...deps }: Detected): Promise<readonly string[]> {
  const report = { supervision, sandbox: 'off', network: 'on', gaps };
  const engine = { warmUp: async () => {}, report: async () => report } as unknown as Engine;
  const lines: string[] = [];
  await prepareServer(
    {
      engine: async () => engine,
      openControl: deps.openControl ?? (async () => {}),
      machine: { ...machine, ...deps.machine },
    },
    (message) => lines.push(message),
  );
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

describe('bubblewrap', () => {
  const folder = temporaryFolder();
  const advice = async (supervision: string, programs: readonly string[], platform = 'linux') => {
    const path = mkdtempSync(join(folder, 'path-'));
    for (const name of programs) writeFileSync(join(path, name), '', { mode: 0o755 });
    return (await logged({ supervision, machine: { platform, env: { PATH: path } } })).slice(1);
  };

  test('is proposed, with the command of this distribution, if it is missing', async () => {
    expect(await advice('unshare', ['unshare', 'apt-get'])).toEqual([
      'worth installing, for sandboxes: sudo apt-get install bubblewrap',
    ]);
    expect(await advice('group', ['dnf'])).toEqual([
      'worth installing, for sandboxes: sudo dnf install bubblewrap',
    ]);
  });

  test('is not proposed if it is installed, or would not work', async () => {
    expect(await advice('namespace', ['bwrap'])).toEqual([]);
    expect(await advice('group', ['bwrap'])).toEqual([]);
    expect(await advice('group', ['unshare'])).toEqual([]);
    expect(await advice('group', ['brew'], 'darwin')).toEqual([]);
  });
});

test('without an engine nothing is logged', async () => {
  const lines: string[] = [];
  const none = { engine: () => Promise.reject(new Error('none')), openControl: async () => {}, machine };
  await prepareServer(none, (message) => lines.push(message));
  expect(lines).toEqual([]);
});
