import { expect, test } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import type { MachineReport } from '../contract/report.ts';
import type { Engine } from '../engine/engine.ts';
import { allSettings } from '../rules/all-settings.ts';
import { fixedSettings } from '../rules/live-settings.ts';
import { rulesForFamily } from '../rules/rules-for.ts';
import { listSettings } from '../settings/define.ts';
import { candidatesFromObject } from '../settings/read-object.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import { createInstructions } from './create-instructions.ts';

const terminal = {
  family: 'terminal',
  rulesNow: (resolved: Parameters<typeof rulesForFamily>[1]) => rulesForFamily('terminal', resolved),
} as const;

function instructionsWith(sandbox: 'off' | 'workspace', openEngine: () => Promise<Engine>) {
  const given = candidatesFromObject({ sandbox, allowedCommands: ['ls'] }, listSettings(allSettings));
  const settings = fixedSettings(resolveCandidates({ more: [given] }, allSettings));
  return createInstructions({ settings, openEngine, cwd: '/app' }, [terminal]);
}

/** An engine on a machine with this isolation. */
function engineWith(isolation: Pick<MachineReport, 'sandbox' | 'network' | 'files'>) {
  return { report: async () => isolation } as unknown as Engine;
}

test('without a sandbox the engine is not created for them', async () => {
  const text = await instructionsWith('off', () => Promise.reject(new Error('opened')))();
  expect(text).toContain('No sandbox');
});

test('a sandbox is described as the machine enforces it, and the text is kept', async () => {
  let opened = 0;
  const instructions = instructionsWith('workspace', async () => {
    opened += 1;
    return engineWith({ sandbox: 'workspace', network: 'off', files: 'landlock' });
  });
  expect(await instructions()).toMatch(/\/tmp and \/var\/tmp are writable.*No network, not even localhost/);
  expect(await instructions()).toBe(await instructions());
  expect(opened).toBe(1);
});

test('a sandbox that cannot be enforced is named as the reason for every refusal, until it works', async () => {
  let isBroken = true;
  const instructions = instructionsWith('workspace', async () => {
    if (isBroken) throw new NacreError('isolation_unavailable', 'The sandbox cannot be enforced here.');
    return engineWith({ sandbox: 'workspace', network: 'off', files: 'namespace' });
  });
  expect(await instructions()).toContain(
    'Every command is refused now: The sandbox cannot be enforced here.',
  );
  isBroken = false;
  expect(await instructions()).not.toContain('refused now');
});

test('an engine that takes long does not delay them for long', async () => {
  const instructions = instructionsWith('workspace', () => new Promise(() => {}));
  const startedAt = performance.now();
  expect(await instructions()).toMatch(/Sandbox workspace: .* No network:/);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
