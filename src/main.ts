// Assembles everything; with cli.ts the only reader of env and argv:
// 1. the first word names a door, 2. flags, environment and files become settings, 3. the door is opened with an
// assembly whose costly parts are made when they are first used.
import { join } from 'node:path';
import { z } from 'zod';
import { allSettings, settingGroups } from './all-settings.ts';
import { NacreError } from './contract/failure.ts';
import { homeOf, type Standing, toOwnPlaces } from './create-whole-engine.ts';
import { doors, loadControl } from './doors/catalog.ts';
import type { Assembly, DoorEntry, Io } from './doors/door.ts';
import { toSentences, write } from './doors/say.ts';
import { engineOnDemand } from './engine-on-demand.ts';
import { toOverview, toUsage } from './help.ts';
import { readSettingsFiles } from './read-settings-files.ts';
import {
  type Resolved,
  readRules,
  rulesFor,
  rulesForShell,
  rulesForTerminal,
  warnOfIgnoredRules,
  warnOfRefusal,
  warnOfRoots,
} from './rules-for.ts';
import { defineSettings, listSettings } from './settings/define.ts';
import { didYouMean } from './settings/nearest.ts';
import { type ParsedFlags, parseFlags } from './settings/parse-flags.ts';
import { type ResolvedSettings, resolveOffers } from './settings/resolve-offers.ts';
import { version } from './version.ts';

/** What a process brings along. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly io: Io;
}

const failedExit = 125;
const sharedFlags = defineSettings({
  help: z
    .boolean()
    .default(false)
    .meta({ flag: ['--help', '-h'], description: 'Show this help.' }),
  config: z
    .string()
    .min(1)
    .optional()
    .meta({ flag: '--config', description: "Settings file in place of the user's." }),
});

/** Runs one command line to its end and returns the exit code. */
export async function main(argv: readonly string[], here: Surroundings): Promise<number> {
  const [first = '--help', second, ...rest] = argv;
  try {
    if (['--version', '-V', 'version'].includes(first)) return await print(here, `${version}\n`);
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
  const settings = await readRules(await loadSettings(given, own.config, here));
  const door = await entry.load();
  const { serves = false } = entry;
  const words = given.positionals;
  return door.open(assemble(settings, { ...here, config: own.config, words, flags: own, serves }));
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

async function loadSettings(
  flags: ParsedFlags,
  named: string | undefined,
  { env, cwd }: Surroundings,
): Promise<ResolvedSettings<typeof allSettings>> {
  const places = { cwd, home: homeOf(env), configHome: env.XDG_CONFIG_HOME || undefined, named };
  // The marks of a command that nacre itself runs are no settings, nor slips of the pen.
  const { NACRE_COMMAND_ID: _id, NACRE_INSTANCE: _server, ...given } = env;
  const files = readSettingsFiles(places);
  if (!files.project && !files.user) return resolveOffers({ flags, env: given }, allSettings);
  const { resolveSettings } = await import('./settings/resolve-settings.ts');
  return resolveSettings({ flags, env: given, ...files }, allSettings);
}

function assemble(
  resolved: Resolved,
  here: Surroundings &
    Pick<Standing, 'config'> &
    Pick<Assembly, 'words' | 'flags'> & { readonly serves: boolean },
): Assembly {
  const { values, limits, origins, warnings } = resolved;
  const { open: openEngine, close } = engineOnDemand(resolved, {
    ...here,
    log: (line) => void here.io.stderr.write(line),
    openInbox: here.serves ? () => openControl() : undefined,
  });
  const places = toOwnPlaces(values, here);
  const controlDir = join(places.stateDir, 'control');
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
    settings: listSettings(allSettings).map(({ name, key, secret }) => {
      const one = name as keyof typeof allSettings;
      const value = secret && values[one] !== undefined ? '(hidden)' : values[one];
      return { key, value, limit: limits[one], origin: origins[one] };
    }),
    warnings: [...warnings, ...warnOfRoots(resolved, here.cwd), ...warnOfIgnoredRules(resolved)],
    toolWarnings: warnOfRefusal(resolved),
    ownRules: rulesFor('everything', resolved),
    maxOutputChars: values.maxOutputChars,
    places,
    http: values,
    cwd: here.cwd,
    shellRules: (narrowing) => rulesForShell(resolved, narrowing),
    terminalRules: (narrowing) => rulesForTerminal(resolved, narrowing),
    engine: openEngine,
    controlDir,
    openControl,
    async tools(narrowing) {
      const { assembleTools } = await import('./assemble-tools.ts');
      return assembleTools(resolved, openEngine, narrowing);
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
