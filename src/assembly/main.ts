// Assembles everything; with cli.ts the only reader of env and argv:
// 1. the first word names a door, 2. flags, environment and files become settings, 3. the door is opened with an
// assembly whose costly parts are made when they are first used.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { doors, loadControl } from '../doors/catalog.ts';
import type { Assembly, DoorEntry, Io, Program } from '../doors/door.ts';
import { failedExit } from '../doors/exit-codes.ts';
import { toSentences, write } from '../doors/say.ts';
import { presetNames } from '../policy/presets.ts';
import { allSettings, settingGroups } from '../rules/all-settings.ts';
import { homeOf } from '../rules/home-folders.ts';
import { createLiveSettings, fixedSettings } from '../rules/live-settings.ts';
import {
  callersOf,
  execAllowFor,
  type Resolved,
  rulesFor,
  rulesForShell,
  rulesForTerminal,
  warnOfIgnoredRules,
  warnOfRefusal,
  warnOfRoots,
} from '../rules/rules-for.ts';
import { toSettingsInForce } from '../rules/settings-in-force.ts';
import { createSettingsSource, type SettingsSource } from '../rules/settings-source.ts';
import { listSettings } from '../settings/define.ts';
import { didYouMean } from '../settings/nearest.ts';
import { listGiven, parseFlags } from '../settings/parse-flags.ts';
import { resolveOffers } from '../settings/resolve-offers.ts';
import { version } from '../version.ts';
import { type Standing, toOwnPlaces } from './create-whole-engine.ts';
import { engineOnDemand } from './engine-on-demand.ts';
import { toOverview, toUsage } from './help.ts';
import { tellOfNewerCopy } from './newer-copy.ts';
import { sharedFlags } from './shared-flags.ts';

/** What a process brings along. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly io: Io;
  /** The Node and the script that run us. */
  readonly program: Program;
}

/** Runs one command line to its end and returns the exit code. */
export async function main(argv: readonly string[], here: Surroundings): Promise<number> {
  const [first = '--help', second, ...rest] = argv;
  try {
    if (['--version', '-V', '-v', 'version'].includes(first)) return await print(here, `${version}\n`);
    if (!['--help', '-h', 'help'].includes(first)) return await openDoor(first, argv.slice(1), here);
    if (second === undefined) return await print(here, toOverview(doors, settingGroups));
    return await openDoor(second, ['--help', ...rest], here);
  } catch (error) {
    await write(here.io.stderr, toSentences(error), here.io.interrupted);
    return failedExit;
  }
}

async function openDoor(name: string, argv: readonly string[], here: Surroundings): Promise<number> {
  const entry = findDoor(name);
  const ownFlags = { ...entry.flags, ...sharedFlags };
  const given = parseFlags(
    argv,
    { ...allSettings, ...ownFlags },
    { stopAtPositional: entry.takesCommand === true },
  );
  const own = resolveOffers({ flags: given }, ownFlags).values;
  if (own.help) return print(here, toUsage(name, { ...entry, flags: ownFlags }, settingGroups));
  if (entry.usage === '' && given.positionals.length > 0) throw unexpected(name, given.positionals);
  const place = entry.serves !== undefined ? movedTo((own as { cwd?: unknown }).cwd, here) : here;
  const source = createSettingsSource(given, { ...place, config: own.config });
  const { settings, fault } = await settle(entry, source);
  const door = await entry.load();
  const { serves } = entry;
  const words = given.positionals;
  return door.open(
    assemble(settings, {
      ...place,
      config: own.config,
      given: listGiven(given, listSettings(allSettings)),
      words,
      flags: own,
      settingsFault: fault,
      serves,
      source: serves ? source : undefined,
    }),
  );
}

async function settle(
  { diagnoses = false }: DoorEntry,
  source: SettingsSource,
): Promise<{ settings: Resolved; fault?: NacreError }> {
  try {
    return { settings: await source.read() };
  } catch (fault) {
    if (!diagnoses || !(fault instanceof NacreError)) throw fault;
    return { settings: resolveOffers({}, allSettings), fault };
  }
}

// A desktop app starts servers wherever it likes.
function movedTo(cwd: unknown, here: Surroundings): Surroundings {
  if (typeof cwd !== 'string') return here;
  const folder = resolve(here.cwd, cwd);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { ...here, cwd: folder };
  throw new NacreError('settings_invalid', `--cwd: ${folder} is no directory.`, {
    hint: 'Name one that exists; nothing was started.',
  });
}

function findDoor(name: string): DoorEntry {
  const entry = Object.hasOwn(doors, name) ? doors[name] : undefined;
  if (entry) return entry;
  const message = `There is no command ${name}.${didYouMean(name, Object.keys(doors))}`;
  throw new NacreError('invalid_request', message, { hint: 'nacre --help lists the commands.' });
}

function unexpected(name: string, words: readonly string[]): NacreError {
  return new NacreError('invalid_request', `nacre ${name} takes only flags, not ${words.join(' ')}.`, {
    hint: `nacre ${name} --help lists them.`,
  });
}

function assemble(
  resolved: Resolved,
  here: Surroundings &
    Pick<Standing, 'config'> &
    Pick<Assembly, 'words' | 'flags' | 'given' | 'settingsFault'> &
    Pick<DoorEntry, 'serves'> & {
      /** Given where the settings are followed as they change. */
      readonly source: SettingsSource | undefined;
    },
): Assembly {
  const { values, warnings } = resolved;
  const { open: openEngine, close } = engineOnDemand(resolved, {
    ...here,
    execAllow: execAllowFor(callersOf(here.serves, resolved)),
    log: (line) => void here.io.stderr.write(line),
    openInbox: here.source ? () => openControl() : undefined,
  });
  const { source } = here;
  const live = source
    ? createLiveSettings(resolved, {
        ...source,
        isOutOfReach: async () =>
          !source.hasOtherName() && (await (await openEngine()).report()).hidesOwnFiles,
        log: (line) => void here.io.stderr.write(line),
      })
    : fixedSettings(resolved);
  const places = toOwnPlaces(values, here);
  const { controlDir } = places;
  let control: Promise<{ close(): Promise<void> }> | undefined;
  const openControl = async () => {
    control ??= loadControl().then(({ serveControl }) => serveControl(controlDir, openEngine));
    control.catch(() => {
      control = undefined;
    });
    await control;
  };
  return {
    io: here.io,
    version,
    words: here.words,
    flags: here.flags,
    given: here.given,
    commandLine: { doors, shared: sharedFlags, groups: settingGroups },
    settings: toSettingsInForce(resolved),
    warnings: [...warnings, ...warnOfRoots(resolved, here.cwd), ...warnOfIgnoredRules(resolved)],
    toolWarnings: warnOfRefusal(resolved),
    ownRules: rulesFor('everything', resolved),
    maxOutputChars: values.maxOutputChars,
    places,
    http: values,
    cwd: here.cwd,
    machine: { home: homeOf(here.env), platform: process.platform, env: here.env },
    program: here.program,
    newerCopy: () => [tellOfNewerCopy(version, here.program, here.env.PATH ?? '') ?? []].flat(),
    presets: presetNames,
    refresh: live.refresh,
    shellRules: (narrowing) => rulesForShell(live.now(), narrowing),
    terminalRules: (narrowing) => rulesForTerminal(live.now(), narrowing),
    engine: openEngine,
    controlDir,
    openControl,
    async tools(narrowing) {
      const { assembleTools } = await import('./assemble-tools.ts');
      return assembleTools(live, openEngine, narrowing);
    },
    settingsFault: here.settingsFault,
    async tryServer() {
      const { tryServer } = await import('../worker/try-server.ts');
      const { node, script } = here.program;
      const config = here.config === undefined ? [] : ['--config', here.config];
      const flags = here.given.map(({ flags: [flag], text }) => `${flag}=${text}`);
      const args = [script, 'mcp', ...config, ...flags];
      return tryServer({ command: node, args, env: here.env, cwd: here.cwd });
    },
    async close() {
      await (await control?.catch(() => undefined))?.close();
      await close();
    },
  };
}

async function print({ io }: Surroundings, text: string): Promise<number> {
  await write(io.stdout, text, io.interrupted);
  return 0;
}
