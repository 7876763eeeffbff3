import { NacreError, toNacreError } from '../../../contract/failure.ts';
import type { MachineReport } from '../../../contract/report.ts';
import type { SettingInForce } from '../../../settings/setting-in-force.ts';
import { isTooWide } from '../../../support/is-too-wide.ts';
import { overlapsUserConfig } from '../../../support/overlaps-user-config.ts';
import { tryRealpath } from '../../../support/try-realpath.ts';
import type { Ask } from '../../ask.ts';
import type { EngineAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import { type Choice, fromFile, type Variables } from './choice.ts';
import type { ParsedEntry } from './parse-entry.ts';

type SandboxDeps = EngineAccess & ProcessAccess & SettingsAccess;

/** Chooses the sandbox level, as NACRE_SANDBOX for the entry and notes for the user. */
export async function chooseSandbox(
  deps: SandboxDeps,
  project: string | undefined,
  fromFlags: Variables,
  before: ParsedEntry,
  ask: Ask | undefined,
): Promise<{ choice: Choice; notes: readonly string[] }> {
  const check = (level: string | undefined) => {
    const used = level ?? valueInForce(deps.settings, 'sandbox');
    const isNamed = fromFlags.NACRE_WORKSPACE !== undefined || namesWorkspace(deps.settings, before);
    if (project !== undefined && !isNamed && refusesEveryCommand(project, used, deps.machine.home))
      throw tooWide(project, used);
    return level;
  };
  if (fromFlags.NACRE_SANDBOX !== undefined) {
    check(fromFlags.NACRE_SANDBOX);
    return { choice: { variables: { NACRE_SANDBOX: fromFlags.NACRE_SANDBOX }, from: 'stated' }, notes: [] };
  }
  const isKept = before.env !== undefined || isInUserFile(deps.settings, 'sandbox');
  const found = isKept ? undefined : await findSandboxes(deps);
  const proposed = isKept ? before.env?.NACRE_SANDBOX : found?.workspaceBy ? 'workspace' : 'off';
  const shown = proposed ?? 'from your settings file';
  const chosen =
    ask === undefined
      ? check(proposed)
      : await ask.one(`Sandbox: ${toQuestion(found)} [${shown}]: `, (answer) =>
          check(answer === '' || answer === shown ? proposed : toLevel(answer, found)),
        );
  return { choice: toChoice(chosen, proposed, before), notes: found ? toNotes(found) : [] };
}

// A proposed `off` is the default and is not stored, so that a sandbox is proposed as soon as one is available.
function toChoice(chosen: string | undefined, proposed: string | undefined, before: ParsedEntry): Choice {
  if (chosen === undefined || (chosen === 'off' && proposed === 'off' && before.env === undefined))
    return fromFile;
  const kept = before.env?.NACRE_SANDBOX === undefined ? 'proposed' : 'kept';
  return { variables: { NACRE_SANDBOX: chosen }, from: chosen === proposed ? kept : 'stated' };
}

type FoundSandboxes = Pick<MachineReport, 'workspaceBy' | 'namespaceFault'>;

// Only levels that work here are proposed, but an existing entry may have any level.
function levelsOf(found: FoundSandboxes | undefined): readonly string[] {
  if (found === undefined || found.workspaceBy === 'namespace') return ['off', 'workspace', 'strict'];
  return found.workspaceBy === 'landlock' ? ['off', 'workspace'] : ['off'];
}

function toQuestion(found: FoundSandboxes | undefined): string {
  const [last = '', ...others] = levelsOf(found)
    .map((level) => (level === 'workspace' ? 'workspace (writes only in the folder, no network)' : level))
    .reverse();
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
}

function toNotes({ workspaceBy, namespaceFault }: FoundSandboxes): readonly string[] {
  const { reason = 'processes: host runs commands outside of it', fix = 'Set processes to own.' } =
    namespaceFault ?? {};
  if (workspaceBy === 'namespace') return [];
  if (workspaceBy === 'landlock')
    return [`Landlock enforces the sandbox, because ${reason}. nacre doctor lists its gaps.`];
  return [
    `No sandbox works here: ${reason}. ${fix.replace(/\.$/, '')}; then nacre init --sandbox workspace turns it on.`,
  ];
}

function tooWide(folder: string, level: string | undefined): NacreError {
  return new NacreError(
    'invalid_request',
    `Sandbox level ${level} would refuse every command in ${folder}, because it is the home directory, a system directory or a directory of settings. Choose a project folder (--project), or off.`,
    { hint: 'Run nacre init again with one of these; nothing was written.' },
  );
}

/** Finds out which sandboxes work here, and what is missing for the others. */
export async function findSandboxes({ engine }: EngineAccess): Promise<FoundSandboxes> {
  try {
    return await (await engine()).report();
  } catch (error) {
    const { message, hint = '' } = toNacreError(error);
    return { workspaceBy: null, namespaceFault: { kind: 'forbidden', reason: message, fix: hint } };
  }
}

function toLevel(answer: string, found: FoundSandboxes | undefined): string {
  const levels = levelsOf(found);
  if (levels.includes(answer)) return answer;
  const isKnown = levelsOf(undefined).includes(answer);
  const message = isKnown
    ? `${answer} does not work here: ${found?.namespaceFault?.reason ?? 'it needs namespaces'}.`
    : `${answer} is not one of ${levels.join(', ')}.`;
  throw new NacreError('invalid_request', message, { hint: `Choose ${levels.join(' or ')}.` });
}

/** The text that a setting has; undefined if it is unset or not a text. */
export function valueInForce(settings: readonly SettingInForce[], wanted: string): string | undefined {
  const value = settings.find(({ key }) => key === wanted)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** Whether the user's `config.yaml` sets a setting, even if another source overrides it. */
export function isInUserFile(settings: readonly SettingInForce[], wanted: string): boolean {
  return settings.some(
    ({ key, origin: { source, outranked = [] } }) =>
      key === wanted && [source, ...outranked.map((other) => other.source)].includes('user'),
  );
}

/** Whether the entry or the user's settings set `workspace`; by default it is the project folder. */
export function namesWorkspace(
  settings: readonly SettingInForce[],
  { env = {}, otherArgs }: ParsedEntry,
): boolean {
  const isInEntry =
    env.NACRE_WORKSPACE !== undefined || otherArgs.some((arg) => /^--workspace(=|$)/.test(arg));
  return isInEntry || isInUserFile(settings, 'workspace');
}

/** Whether a sandbox of this level refuses every command in `folder`, because the folder is not a valid workspace. */
export function refusesEveryCommand(folder: string, level: string | undefined, home: string): boolean {
  if (level === undefined || level === 'off') return false;
  const place = tryRealpath(folder);
  return [home, tryRealpath(home)].some((one) => isTooWide(place, one) || overlapsUserConfig(place, one));
}
