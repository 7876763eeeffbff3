import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AllowList, PolicyRule } from '../contract/decision.ts';
import type { Narrowing } from '../contract/narrowing.ts';
import type { RunContext } from '../engine/run.ts';
import { toAllowList } from '../policy/settings.ts';
import type { ResolvedSettings } from '../settings/resolve-offers.ts';
import { narrowList } from '../settings/tighten.ts';
import { type ToolFamily, toFamilies } from '../tools/settings.ts';
import type { allSettings } from './all-settings.ts';

/** All settings with where they came from, and the written rules, whose examples hold. */
export type Resolved = ResolvedSettings<typeof allSettings> & {
  readonly policy?: readonly PolicyRule[] | undefined;
};

/** What binds one kind of caller. */
export type BoundRules = Pick<
  RunContext,
  'rules' | 'cwdRoots' | 'cwdNames' | 'environment' | 'refuseSensitive'
>;

/** Reads the written rules. Judging their examples takes the whole policy, which is loaded only where there are any. */
export async function readRules(resolved: ResolvedSettings<typeof allSettings>): Promise<Resolved> {
  const { values, limits } = resolved;
  if (values.policy.length === 0 && limits.policy === undefined) return resolved;
  const { toPolicyRules } = await import('../policy/to-policy-rules.ts');
  return { ...resolved, policy: toPolicyRules(values.policy, limits.policy) };
}

/** The rules that bind one kind of caller; P12: who asks decides what an unset list means. */
export function rulesFor(
  whenUnset: 'nothing' | 'everything',
  { values, limits, origins, policy }: Resolved,
): Pick<RunContext, 'rules' | 'cwdRoots'> {
  const allow = toAllowList(values.allowedCommands, limits.allowedCommands, whenUnset);
  const cwdRoots = [values.allowedCwdRoots, limits.allowedCwdRoots ?? []].filter(isSet);
  const { danger, confirm, programDirs, fileWrites } = values;
  const { tightenedBy: narrowedBy, givenBy: preset } = origins.allowedCommands;
  const allowSetting = 'ALLOWED_COMMANDS';
  const rules = { allow, allowSetting, preset, narrowedBy, programDirs, danger, confirm, fileWrites, policy };
  return { rules, cwdRoots };
}

/** The rules for the tools that are offered: families that are offered together share the strictest. */
function rulesForTools(resolved: Resolved): Pick<RunContext, 'rules' | 'cwdRoots'> {
  const families: readonly string[] = toFamilies(resolved.values.tools);
  return rulesFor(families.includes('terminal') ? 'nothing' : 'everything', resolved);
}

/** The rules for one family: `shell_execute` can have a list, roots and variables of its own beside the shared ones. */
export function rulesForFamily(family: ToolFamily, resolved: Resolved): BoundRules {
  const shared = rulesForTools(resolved);
  if (family !== 'shell-execute') return shared;
  const { values, limits } = resolved;
  const hasOwn = values.shellExecuteAllowedCommands !== undefined;
  const allow = narrowAllow(
    // A list of its own says what an unset one means.
    hasOwn ? rulesFor('everything', resolved).rules.allow : shared.rules.allow,
    narrowList(values.shellExecuteAllowedCommands ?? ['*'], limits.shellExecuteAllowedCommands, '*'),
  );
  const allowSetting = hasOwn ? 'NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS' : shared.rules.allowSetting;
  const own = [values.shellExecuteCwdRoots, limits.shellExecuteCwdRoots ?? []].filter(isSet);
  const settings = [
    ...(shared.cwdRoots.length > 0 ? ['ALLOWED_CWD_ROOTS'] : []),
    ...(own.length > 0 ? ['NACRE_SHELL_EXECUTE_CWD_ROOTS'] : []),
  ];
  return {
    rules: { ...shared.rules, allow, allowSetting, ...(hasOwn && { preset: undefined }) },
    cwdRoots: [...shared.cwdRoots, ...own],
    cwdNames: { field: 'working_directory', setting: settings.join(' or ') },
    environment: { envPass: values.shellExecuteEnvPass, envWithhold: values.shellExecuteEnvWithhold },
  };
}

function isSet(list: readonly string[]): boolean {
  return list.length > 0;
}

/** The rules for what apps run over HTTP without a shell: a list of its own, and no directories of system or keys. */
export function rulesForShell(resolved: Resolved, narrowing?: Narrowing): BoundRules {
  const { values, limits, origins } = resolved;
  const shared = rulesFor('everything', resolved);
  const allow = toAllowList(values.shellAllowlist, limits.shellAllowlist, 'nothing');
  const narrowedBy = origins.shellAllowlist.tightenedBy;
  const allowSetting = 'SHELL_ALLOWLIST';
  const rules = { ...shared.rules, allow, allowSetting, preset: undefined, narrowedBy };
  return narrowRules({ rules, cwdRoots: shared.cwdRoots, refuseSensitive: true }, narrowing);
}

/** The rules for a shell that the settings let pages open at a terminal: keys cannot be judged, so nothing typed is. */
export function rulesForTerminal(resolved: Resolved, narrowing?: Narrowing): BoundRules {
  const { rules, ...bound } = rulesForShell(resolved, narrowing);
  const { allowSetting } = rules;
  return { ...bound, rules: { allow: { kind: 'all' }, allowSetting, danger: 'off' } };
}

/** What is left of rules for one caller whose own list or directories are narrower. */
export function narrowRules(bound: BoundRules, narrowing: Narrowing | undefined): BoundRules {
  if (narrowing === undefined) return bound;
  const { allow, cwdRoots = [], named } = narrowing;
  const rules = allow
    ? {
        ...bound.rules,
        allow: narrowAllow(bound.rules.allow, allow),
        allowSetting: named,
        preset: undefined,
      }
    : bound.rules;
  return { ...bound, rules, cwdRoots: [...bound.cwdRoots, ...(cwdRoots.length > 0 ? [cwdRoots] : [])] };
}

function narrowAllow(general: AllowList, own: readonly string[]): AllowList {
  if (general.kind === 'none') return general;
  return toAllowList(own, general.kind === 'names' ? general.names : undefined, 'everything');
}

/** Whoever comes through a door, with what binds them: those whom it serves, or else the person at the command line. */
export function callersOf(
  serves: readonly ('tools' | 'apps')[] | undefined,
  resolved: Resolved,
): readonly Pick<RunContext, 'rules'>[] {
  if (serves === undefined) return [rulesFor('everything', resolved)];
  return [
    ...toFamilies(resolved.values.tools).map((family) => rulesForFamily(family, resolved)),
    ...(serves.includes('apps') ? [rulesForShell(resolved)] : []),
  ];
}

/**
 * The programs that the kernel is to hold commands to: one list for all callers of a process, so it has whatever policy
 * lets one of them run. Undefined when one of them may run everything.
 */
export function execAllowFor(callers: readonly Pick<RunContext, 'rules'>[]): readonly string[] | undefined {
  const names = callers.flatMap(({ rules: { allow, policy = [] } }) => [
    ...(allow.kind === 'all' ? ['*'] : allow.kind === 'names' ? allow.names : []),
    ...policy.filter(({ verdict }) => verdict === 'allow').map(({ program }) => program),
  ]);
  return names.includes('*') ? undefined : [...new Set(names)];
}

/** What whoever offers tools should know: that none of them would run anything. */
export function warnOfRefusal(resolved: Resolved): readonly string[] {
  const families = toFamilies(resolved.values.tools).map((family) => rulesForFamily(family, resolved).rules);
  const { policy = [] } = resolved;
  if (families.some(({ allow }) => allow.kind !== 'none')) return [];
  if (policy.some(({ verdict }) => verdict === 'allow')) return [];
  const why = resolved.values.allowedCommands === undefined ? 'is not set' : 'leaves nothing that may run';
  return [`ALLOWED_COMMANDS ${why}, so every command is refused. ${howToSet}`];
}

const howToSet = 'Set it to the programs that may run, such as ALLOWED_COMMANDS=git,ls,cat, or to * for all.';

/** A project's file can only tighten, so what it allows is told to whoever wrote it there. */
export function warnOfIgnoredRules({ limits }: Resolved): readonly string[] {
  const ignored = (limits.policy ?? []).filter(({ verdict }) => verdict === 'allow');
  if (ignored.length === 0) return [];
  const programs = [...new Set(ignored.map(({ program }) => program))].join(', ');
  return [
    `The project's nacre.yaml has rules that allow ${programs}; they are ignored, since a project can only tighten. Move them to your own settings file.`,
  ];
}

/** T8: a root that cannot be resolved does not stop the start, but is told. */
export function warnOfRoots(resolved: Resolved, cwd: string): readonly string[] {
  const { values, limits } = resolved;
  const families: readonly string[] = toFamilies(values.tools);
  const own = [...values.shellExecuteCwdRoots, ...(limits.shellExecuteCwdRoots ?? [])];
  const missing = (roots: readonly string[]) => roots.filter((root) => !isDirectory(resolve(cwd, root)));
  return [
    {
      setting: 'ALLOWED_CWD_ROOTS',
      field: 'cwd',
      roots: missing(rulesFor('nothing', resolved).cwdRoots.flat()),
    },
    {
      setting: 'NACRE_SHELL_EXECUTE_CWD_ROOTS',
      field: 'working_directory',
      roots: families.includes('shell-execute') ? missing(own) : [],
    },
  ].flatMap(({ setting, field, roots }) =>
    roots.length === 0
      ? []
      : [
          `${setting} names ${roots.join(', ')}, which is no directory that exists: requests that give ${field} are refused.`,
        ],
  );
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
