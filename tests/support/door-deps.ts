import { PassThrough } from 'node:stream';
import { createDoorDeps } from '../../src/assembly/create-door-deps.ts';
import type { DoorDeps } from '../../src/doors/door.ts';
import { allSettings } from '../../src/rules/all-settings.ts';
import { createSettingsSource } from '../../src/rules/settings-source.ts';
import { parseFlags } from '../../src/settings/parse-flags.ts';
import { builtCli } from './build.ts';
import type { Place } from './nacre.ts';

/** Everything that `main` passes to a door with these flags, without running the door. */
export async function createTestDeps(flags: readonly string[], { cwd, env }: Place): Promise<DoorDeps> {
  const given = parseFlags(flags, allSettings);
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return createDoorDeps(await createSettingsSource(given, { cwd, env }).read(), {
    cwd,
    env,
    io: { stdin, stdout, stderr, interrupted: new AbortController().signal },
    program: { node: process.execPath, script: builtCli },
    config: undefined,
    words: [],
    given: [],
    settingsFault: undefined,
    remoteCallers: undefined,
    source: undefined,
  });
}
