// Runs one command line, with the `argv` and `env` that `cli.ts` passes in:
// 1. the first word names a door, 2. flags, environment and files become settings, 3. the door opens with `DoorDeps`,
// whose expensive parts are created at their first use.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { doorGroups, doors } from '../doors/catalog.ts';
import { createDisplay } from '../doors/display.ts';
import type { DoorEntry } from '../doors/door.ts';
import { failedExit } from '../doors/exit-codes.ts';
import { print, toErrorText } from '../doors/print.ts';
import { sharedFlags } from '../doors/shared-flags.ts';
import { allSettings, settingGroups } from '../rules/all-settings.ts';
import type { Resolved } from '../rules/rules-for.ts';
import { createSettingsSource, type SettingsSource } from '../rules/settings-source.ts';
import { listSettings } from '../settings/define.ts';
import { didYouMean } from '../settings/nearest.ts';
import { listGiven, parseFlags } from '../settings/parse-flags.ts';
import { ensureOwnerAccess } from '../support/umask.ts';
import { createDoorDeps, type ProcessContext } from './create-door-deps.ts';
import { type HelpOptions, toOverview, toUsage } from './help.ts';
import { version } from './version.ts';

/** Runs one command line, `argv` without node and script, and returns the exit code. */
export async function main(argv: readonly string[], context: ProcessContext): Promise<number> {
  const [first = '--help', second, ...rest] = argv;
  ensureOwnerAccess();
  try {
    if (['--version', '-V', '-v', 'version'].includes(first)) return await printText(context, `${version}\n`);
    if (!['--help', '-h', 'help'].includes(first)) return await openDoor(first, argv.slice(1), context);
    if (second === undefined || second === '--all')
      return await printText(context, toOverview(doorGroups, helpOptions(context, second === '--all')));
    return await openDoor(second, ['--help', ...rest], context);
  } catch (error) {
    await print(context.io.stderr, toErrorText(error), context.io.interrupted);
    return failedExit;
  }
}

async function openDoor(name: string, argv: readonly string[], context: ProcessContext): Promise<number> {
  const entry = findDoor(name);
  const { remoteCallers, takesCommand = false } = entry;
  const given = parseFlags(
    argv,
    { ...allSettings, ...entry.flags, ...sharedFlags },
    { stopAtPositional: takesCommand },
  );
  const { shared, workingDir, prepare, open } = entry.parse(given);
  if (shared.help) return printText(context, toUsage(name, entry, helpOptions(context, shared.all)));
  if (shared.all) throw onlyWithHelp();
  if (entry.usage === '' && given.positionals.length > 0) throw unexpected(name, given.positionals);
  const place = moveTo(workingDir, context);
  const source = createSettingsSource(given, { ...place, config: shared.config, files: context.files });
  const { resolved, fault } = await readSettings(entry, source);
  if (fault && entry.onInvalidSettings === 'warn')
    await print(context.io.stderr, `nacre: warning: ${fault.message}\n`, context.io.interrupted);
  const invocation = {
    ...place,
    config: shared.config,
    words: given.positionals,
    given: listGiven(given, listSettings(allSettings)),
    settingsFault: fault,
    remoteCallers,
    source: remoteCallers ? source : undefined,
  };
  const deps = createDoorDeps(resolved, invocation);
  return open((await prepare(deps)) ? createDoorDeps(await source.read(), invocation) : deps);
}

async function readSettings(
  { onInvalidSettings }: DoorEntry,
  source: SettingsSource,
): Promise<{ resolved: Resolved; fault?: NacreError }> {
  try {
    return { resolved: await source.read() };
  } catch (fault) {
    if (onInvalidSettings === undefined || !(fault instanceof NacreError)) throw fault;
    return { resolved: await source.readStateFolder(), fault };
  }
}

// Desktop apps start MCP servers in arbitrary directories, so `nacre mcp --cwd` names the one to use.
function moveTo(cwd: string | undefined, context: ProcessContext): ProcessContext {
  if (cwd === undefined) return context;
  const folder = resolve(context.cwd, cwd);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { ...context, cwd: folder };
  throw new NacreError('settings_invalid', `--cwd: ${folder} is not a directory.`, {
    hint: 'Name an existing directory; nothing was started.',
  });
}

function findDoor(name: string): DoorEntry {
  const entry = Object.hasOwn(doors, name) ? doors[name] : undefined;
  if (entry) return entry;
  const message = `Unknown command: ${name}.${didYouMean(name, Object.keys(doors))}`;
  throw new NacreError('invalid_request', message, { hint: 'Run nacre --help to list the commands.' });
}

function unexpected(name: string, words: readonly string[]): NacreError {
  return new NacreError('invalid_request', `nacre ${name} accepts only flags, not ${words.join(' ')}.`, {
    hint: `Run nacre ${name} --help to list them.`,
  });
}

function onlyWithHelp(): NacreError {
  return new NacreError('invalid_request', '--all is used only together with --help.', {
    hint: 'Leave it out, or add --help to list the flags of all settings.',
  });
}

function helpOptions({ io, env }: ProcessContext, all: boolean): HelpOptions {
  return { display: createDisplay(io.stdout, env), settings: settingGroups, all };
}

async function printText({ io }: ProcessContext, text: string): Promise<number> {
  await print(io.stdout, text, io.interrupted);
  return 0;
}
