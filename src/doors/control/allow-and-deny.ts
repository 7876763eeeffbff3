// `nacre allow` and `nacre deny`: 1. edit the user's settings file, 2. ask every running server what it decides now,
// 3. name the clients whose entries override the file.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { findEntries, listIn } from '../../clients/find-entries.ts';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import { changePrograms, type ProgramChange } from '../../settings/change-programs.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import type { Arguments, FlagAccess, IoAccess, ProcessAccess, SettingsAccess } from '../door.ts';
import { exitCodes } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';
import { openUserSettings, type UserSettingsDeps } from '../user-settings.ts';
import type { JudgedPrograms } from './judged-programs.ts';

interface Flags {
  readonly json: boolean;
  readonly for?: string | undefined;
}

type ChangeDeps = Arguments &
  FlagAccess<Flags> &
  IoAccess &
  ProcessAccess &
  SettingsAccess &
  UserSettingsDeps &
  ServerFolder;

/** `nacre allow PROGRAM...`: lets agents run these programs. */
export function allowDoor(deps: ChangeDeps): Promise<number> {
  return changeDoor(deps, 'allow');
}

/** `nacre deny PROGRAM...`: keeps agents from running these programs. */
export function denyDoor(deps: ChangeDeps): Promise<number> {
  return changeDoor(deps, 'deny');
}

async function changeDoor(deps: ChangeDeps, verdict: 'allow' | 'deny'): Promise<number> {
  const { io, flags, words } = deps;
  try {
    const programs = checkNames(words, verdict);
    const change = {
      verdict,
      programs,
      project: flags.for === undefined ? undefined : toFolder(deps, flags.for),
    };
    const report = await apply(deps, change);
    await print(
      io.stdout,
      flags.json ? `${JSON.stringify(report, null, 2)}\n` : toText(report, change),
      io.interrupted,
    );
    return 0;
  } catch (error) {
    await print(io.stderr, toErrorText(error));
    return exitCodes[toNacreError(error).code];
  }
}

interface Report {
  readonly file: string;
  /** The lines that changed, with their numbers; empty if nothing changed. */
  readonly changes: readonly string[];
  readonly notes: readonly string[];
  readonly servers: readonly ServerReport[];
  /** Entries of clients whose own list overrides the file. */
  readonly overriding: readonly string[];
}

interface ServerReport {
  /** Null if the server did not reply, or cannot apply the file; `problem` then says which one and why. */
  readonly pid: string | null;
  readonly problem: string | null;
  readonly judged: JudgedPrograms | null;
}

async function apply(deps: ChangeDeps, change: ProgramChange): Promise<Report> {
  const { path, lines, notes } = await editSettings(deps, change, mostAttempts);
  return {
    file: path,
    changes: lines.slice(1),
    notes,
    servers: await askAll(deps, change),
    overriding: change.verdict === 'allow' && change.project === undefined ? findOverriding(deps) : [],
  };
}

// Several terminals or scripts may run `nacre allow` at once, so each edit reads the file again.
const mostAttempts = 20;

async function editSettings(deps: ChangeDeps, change: ProgramChange, attempts: number) {
  const { path, text, replace } = openUserSettings(deps);
  const { text: edited, notes } = changePrograms(text, change, deps.presetPrograms);
  try {
    const { lines } = await replace(edited);
    return { path, lines, notes };
  } catch (error) {
    if (attempts === 1 || openUserSettings(deps).text === text) throw error;
    return editSettings(deps, change, attempts - 1);
  }
}

async function askAll(
  deps: ServerFolder,
  { programs, project }: ProgramChange,
): Promise<readonly ServerReport[]> {
  const call = { method: 'judge', programs, cwd: project } as const;
  const { replies, failed, close } = await askServers<JudgedPrograms>(deps, call);
  close();
  return [
    ...replies.map(({ server, result }) => ({ pid: server.pid, problem: null, judged: result })),
    ...failed.map(({ message, hint = '' }) => ({ pid: null, problem: `${message} ${hint}`, judged: null })),
  ];
}

function findOverriding({ machine, cwd }: ProcessAccess): readonly string[] {
  return findEntries({ ...machine, project: cwd }).flatMap(({ name, title, scope, path, entry }) => {
    const list = listIn(entry);
    if (list === undefined) return [];
    return [
      `${title} (${path}) sets ${list} in its entry, which overrides your settings file there. To change that, remove ${list} from the entry, or run nacre init ${name} --scope ${scope} with the same --preset as your settings file; then restart the client.`,
    ];
  });
}

function toText(report: Report, { verdict, project }: ProgramChange): string {
  const { file, changes, notes, servers, overriding } = report;
  const lines = [
    ...(changes.length === 0 ? [`${file} was not changed.`] : [`${file} was updated:`, ...changes]),
    ...notes,
    ...servers.flatMap((server) => describeServer(server, verdict)),
    ...(servers.length === 0
      ? [
          `No server is running; this applies to the next one${project === undefined ? '' : ` in ${project}`}.`,
        ]
      : []),
    ...overriding,
  ];
  return `${lines.map(escapeControls).join('\n')}\n`;
}

function describeServer(
  { pid, problem, judged }: ServerReport,
  wanted: ProgramChange['verdict'],
): readonly string[] {
  if (judged === null) return [`A running server did not apply this change. ${problem}`];
  const name = `Server ${pid} (${[...judged.clients, judged.cwd].join(', ')})`;
  const { source, where } = judged.list;
  const isOverridden = source === 'environment' || source === 'flag';
  const why = isOverridden ? ` Its list comes from ${where}, which overrides your settings file.` : '';
  return judged.programs.map(({ program, verdict, reason }) => {
    if (verdict === wanted)
      return `${name}: ${program} ${verdict === 'allow' ? 'may run' : 'may not run'} from the next command on.`;
    const asks = verdict === 'ask' ? `${program} needs approval. ` : '';
    return `${name}: ${asks}${reason}${wanted === 'allow' ? why : ''}`;
  });
}

// Matches names that a list can contain and that bash reads as one plain word.
const plainName = /^[A-Za-z0-9_./+@:[][\w./+@:~[\]-]*$/;

const everyProgram = {
  allow: 'To allow every program, set preset: full in the settings file.',
  deny: 'To deny every program, set preset: none and allowed_commands: [] in the settings file.',
};

function checkNames(words: readonly string[], verdict: 'allow' | 'deny'): readonly string[] {
  if (words.length === 0)
    throw new NacreError('invalid_request', `nacre ${verdict} needs the name of a program.`, {
      hint: `Name programs, as in nacre ${verdict} docker kubectl.`,
    });
  const names = [...new Set(words.flatMap((word) => (word === '' ? [''] : word.split(',').filter(Boolean))))];
  const wrong = names.find((name) => !plainName.test(name));
  if (wrong === undefined) return names;
  throw new NacreError('invalid_request', `${JSON.stringify(wrong)} is not the name of a program.`, {
    hint:
      wrong === '*'
        ? everyProgram[verdict]
        : 'Name programs without arguments; for arguments, add a rule to policy in the settings file.',
  });
}

function toFolder({ cwd, machine }: ProcessAccess, given: string): string {
  const folder = resolve(cwd, given.replace(/^~(?=\/|$)/, machine.home));
  try {
    return realpathSync(folder);
  } catch {
    throw new NacreError('invalid_request', `--for: ${folder} does not exist.`, {
      hint: 'Name the folder of a project; nothing was written.',
    });
  }
}
