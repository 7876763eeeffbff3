// `nacre mcp` before its own code is loaded: the settings are read as `main` reads them, and the first messages are answered.
// Anything unusual (invalid settings, warnings, `--help`, rules of the setting `policy`) is left to `main`. It resolves the
// settings again, from the same texts of the settings files.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { mcpFlags } from '../doors/mcp/flags.ts';
import { greet } from '../doors/mcp/greet.ts';
import { sharedFlags } from '../doors/shared-flags.ts';
import { allSettings } from '../rules/all-settings.ts';
import { fixedSettings } from '../rules/live-settings.ts';
import { createResolver, toFilePlaces } from '../rules/resolve-now.ts';
import type { Resolved } from '../rules/rules-for.ts';
import { readStampedFiles } from '../rules/settings-files.ts';
import { listWarnings } from '../rules/settings-warnings.ts';
import { parseFlags } from '../settings/parse-flags.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import { tryRealpath } from '../support/try-realpath.ts';
import type { ProcessContext } from './create-door-deps.ts';
import { createGreeting } from './create-greeting.ts';
import { mayHaveRunningCommands } from './has-kept-commands.ts';
import { toPlaces } from './places.ts';
import { version } from './version.ts';

/** Answers the first messages of an MCP client; does nothing if `argv` asks for something else, or for anything unusual. */
export async function greetFirst(
  [command, ...argv]: readonly string[],
  { env, cwd, io }: Pick<ProcessContext, 'env' | 'cwd' | 'io'>,
): Promise<Pick<ProcessContext, 'greeted' | 'files'>> {
  if (command !== 'mcp') return {};
  const given = parseFlags(argv, { ...allSettings, ...mcpFlags, ...sharedFlags });
  if (given.problems.length > 0 || given.positionals.length > 0) return {};
  const flags = resolveCandidates({ flags: given }, { ...mcpFlags, ...sharedFlags }).values;
  if (flags.help || flags.all) return {};
  const folder = resolve(cwd, flags.cwd ?? '');
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return {};
  const location = { env, cwd: folder, config: flags.config };
  const files = readStampedFiles(toFilePlaces(location));
  const resolved: Resolved = await createResolver(given, { ...location, files })();
  if (resolved.values.policy.length > 0 || resolved.limits.policy !== undefined) return {};
  if (listWarnings(resolved, folder).length > 0) return {};
  // The instructions may have to list commands of an earlier connection, which only the engine can list.
  const { stateDir } = toPlaces(resolved.values, location);
  if (resolved.values.outlive !== 'off' && mayHaveRunningCommands(stateDir, tryRealpath(folder))) return {};
  const openEngine = () => Promise.reject(new Error('A greeting needs no engine.'));
  const greeting = createGreeting({ settings: fixedSettings(resolved), openEngine, cwd: folder });
  return greeting ? { files, greeted: await greet(io, greeting, version) } : {};
}
