import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type ClientMachine, clients } from '../../src/clients/clients.ts';
import { findConfigFile } from '../../src/clients/find-entries.ts';
import { type KnownClient, knownClients, type ReplyPart } from '../../src/clients/known-clients.ts';
import { builtCli } from '../support/build.ts';
import type { Place } from './place.ts';
import { setStage, startOn } from './run-loop.ts';

const probe = fileURLToPath(new URL('probe-server.mjs', import.meta.url));
const marks: Readonly<Record<ReplyPart, string>> = {
  text: 'MARK_TEXT',
  data: 'MARK_DATA',
  meta: 'MARK_META',
};

/** Declares that a client passes on the parts of a result that `known-clients.ts` says, and calls itself as it says. */
export function testParts(name: string): void {
  it('passes on the parts of a result, uncut, that known-clients.ts describes', async () => {
    const known = knownClients[name] as KnownClient;
    const { maxChars = 99_000 } = known;
    const kinds = ['both', 'error-both', `chars:${maxChars}`];
    const calls = kinds.map((kind) => ({ tool: kind === 'both' ? 'probe_data' : 'probe', args: { kind } }));
    const stage = await setStage(name, calls);
    const log = `${stage.place.home}/messages`;
    startProbe(name, stage.place, log);
    await startOn(name, stage).ended;
    await stage.model.close();
    const [success, error, long] = stage.script.results.map(({ text }) => text);
    expect(partsOf(success)).toEqual(new Set(known.passesOn));
    expect(partsOf(error)).toEqual(new Set(known.passesOnErrors));
    expect([long?.includes('MARK_MIDDLE'), long?.includes('MARK_END')]).toEqual([true, true]);
    expect(nameIn(log)).toMatch(known.clientName);
  });
}

function partsOf(text = ''): ReadonlySet<string> {
  return new Set(Object.entries(marks).flatMap(([part, mark]) => (text.includes(mark) ? [part] : [])));
}

/** Makes the client's entry for nacre start the probe. */
function startProbe(name: string, { home, project, env }: Place, log: string): void {
  const machine: ClientMachine = { home, platform: process.platform, env, project };
  const client = clients[name];
  const file = client && findConfigFile(client, 'user', machine);
  if (file === undefined) throw new Error(`${name} has no configuration file.`);
  writeFileSync(log, '');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(builtCli, probe).replace(/(probe-server\.mjs"?,\s*"?)mcp/, `$1${log}`);
  expect(changed).toContain(log);
  writeFileSync(file, changed);
}

function nameIn(log: string): string {
  const line = readFileSync(log, 'utf8')
    .split('\n')
    .find((one) => one.includes('"initialize"'));
  return JSON.parse(line ?? '{}').params?.clientInfo?.name ?? '';
}
