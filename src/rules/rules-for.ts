import type { AllowList, PolicyRule } from '../contract/decision.ts';
import type { MachineSettings, Machines } from '../contract/machine.ts';
import type { Narrowing } from '../contract/narrowing.ts';
import type { RunContext } from '../engine/context/call-context.ts';
import { toAllowList } from '../policy/settings.ts';
import type { ResolvedSettings } from '../settings/resolve-candidates.ts';
import { narrowList } from '../settings/tighten.ts';
import { type ToolFamily, toFamilies } from '../tools/settings.ts';
import type { allSettings } from './all-settings.ts';
import { readMachines } from './read-machines.ts';

/** All settings with their origins, the machines, and the rules of the setting `policy`, whose examples have been checked. */
export type Resolved = ResolvedSettings<typeof allSettings> & {
  readonly policy?: readonly PolicyRule[] | undefined;
  /** Other machines; absent if there are none. */
  readonly machines?: Machines | undefined;
  /** The setting that `values.allowedCommands` comes from, if it is that of a machine. */
  readonly allowedBy?: string | undefined;
};

/** The rules that apply to one kind of caller. */
export type CallerRules = Pick<
  RunContext,
  | 'rules'
  | 'rulesOn'
  | 'cwdRoots'
  | 'judgeDefaultCwd'
  | 'share'
  | 'cwdNames'
  | 'environment'
  | 'refuseSensitive'
>;

/** Reads the settings `machines` and `policy`. Checking their examples needs the whole policy engine, which is loaded only if there are any. */
export async function readRules(resolved: ResolvedSettings<typeof allSettings>): Promise<Resolved> {
  const { values, limits } = resolved;
  const machines = readMachines(resolved);
  if (values.policy.length === 0 && limits.policy === undefined) return { ...resolved, machines };
  const { toPolicyRules } = await import('../policy/to-policy-rules.ts');
  return { ...resolved, machines, policy: toPolicyRules(values.policy, limits.policy) };
}

/**
 * The programs that each door allows while its list is unset (P12). `cli` is what the user types: `nacre run` and
 * `nacre workflow`; `program` is what a program runs through the package, apart from tools; `app` is POST /api/shell and its
 * stream, whose list `shell_allowlist` has a default of its own.
 */
export const whenUnset = {
  terminal: 'nothing',
  bash: 'everything',
  'shell-execute': 'everything',
  changes: 'everything',
  cli: 'everything',
  program: 'everything',
  app: 'nothing',
} as const satisfies Record<ToolFamily | 'cli' | 'program' | 'app', 'nothing' | 'everything'>;

/** The shared rules as a door applies them; see `whenUnset`. */
export function rulesFor(
  door: keyof typeof whenUnset,
  resolved: Resolved,
): Pick<RunContext, 'rules' | 'cwdRoots' | 'rulesOn'> {
  const { values, limits, origins, policy, allowedBy } = resolved;
  const allow = toAllowList(values.allowedCommands, limits.allowedCommands, whenUnset[door]);
  const cwdRoots = [values.allowedCwdRoots, limits.allowedCwdRoots ?? []].filter(isSet);
  const { danger, confirm, programDirs, fileWrites, unprotected } = values;
  const { tightenedBy: narrowedBy, impliedBy: preset } = origins.allowedCommands;
  const allowSetting = allowedBy ?? 'ALLOWED_COMMANDS';
  const shared = { danger, confirm, fileWrites, unprotected, policy };
  const rules = { allow, allowSetting, preset, narrowedBy, programDirs, ...shared };
  return { rules, cwdRoots, rulesOn: perMachine(resolved, (there) => rulesFor(door, there)) };
}

/** The rules of the offered tools; families that `tools` lists together share the strictest. */
function rulesForTools(resolved: Resolved): Pick<RunContext, 'rules' | 'cwdRoots' | 'rulesOn'> {
  const families = toFamilies(resolved.values.tools);
  const strictest = families.find((family) => whenUnset[family] === 'nothing') ?? 'bash';
  return rulesFor(strictest, resolved);
}

/** The rules of one tool family; `shell_execute` can add its own list, roots and variables to the shared ones. */
export function rulesForFamily(family: ToolFamily, resolved: Resolved): CallerRules {
  const shared = rulesForTools(resolved);
  if (family !== 'shell-execute') return shared;
  const { values, limits } = resolved;
  const hasOwn = values.shellExecuteAllowedCommands !== undefined;
  const allow = narrowAllow(
    // With `shell_execute_allowed_commands` set, an unset `allowed_commands` allows everything (P12).
    hasOwn ? rulesFor(family, resolved).rules.allow : shared.rules.allow,
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
    rulesOn: perMachine(resolved, (there) => rulesForFamily(family, there)),
  };
}

function isSet(list: readonly string[]): boolean {
  return list.length > 0;
}

/** The rules for POST /api/shell: `shell_allowlist`, and no system or key directories as `cwd` (H6). */
export function rulesForShell(resolved: Resolved, narrowing?: Narrowing): CallerRules {
  const { values, limits, origins } = resolved;
  const shared = rulesFor('app', resolved);
  const allow = toAllowList(values.shellAllowlist, limits.shellAllowlist, whenUnset.app);
  const narrowedBy = origins.shellAllowlist.tightenedBy;
  const allowSetting = 'SHELL_ALLOWLIST';
  const rules = { ...shared.rules, allow, allowSetting, preset: undefined, narrowedBy };
  const rulesOn = perMachine(resolved, (there) => rulesForShell(there));
  return narrowRules({ rules, rulesOn, cwdRoots: shared.cwdRoots, refuseSensitive: true }, narrowing);
}

/** The rules for shells in `terminal_shells`; keystrokes cannot be judged, so nothing that is typed there is. */
export function rulesForTerminal(resolved: Resolved, narrowing?: Narrowing): CallerRules {
  const { rules, ...others } = rulesForShell(resolved, narrowing);
  const { allowSetting } = rules;
  const rulesOn = perMachine(resolved, (there) => rulesForTerminal(there, narrowing));
  return { ...others, rulesOn, rules: { allow: { kind: 'all' }, allowSetting, danger: 'off' } };
}

/** Narrows rules to the list and directories of one caller, such as a named token. */
export function narrowRules(general: CallerRules, narrowing: Narrowing | undefined): CallerRules {
  if (narrowing === undefined) return general;
  const { allow, cwdRoots = [], named, share } = narrowing;
  const { rulesOn: generalOn } = general;
  const rulesOn = generalOn && ((machine: MachineSettings) => narrowRules(generalOn(machine), narrowing));
  const rules = allow
    ? {
        ...general.rules,
        allow: narrowAllow(general.rules.allow, allow),
        allowSetting: named,
        general: { setting: general.rules.allowSetting, names: allow },
        preset: undefined,
        // A rule that allows a program for the user's agents must not widen the list of a token or an applet.
        policy: general.rules.policy?.filter(({ verdict }) => verdict !== 'allow'),
      }
    : general.rules;
  if (cwdRoots.length === 0) return { ...general, rules, rulesOn, share };
  return {
    ...general,
    rules,
    rulesOn,
    share,
    cwdRoots: [...general.cwdRoots, cwdRoots],
    judgeDefaultCwd: true,
  };
}

function narrowAllow(general: AllowList, own: readonly string[]): AllowList {
  if (general.kind === 'none') return general;
  return toAllowList(own, general.kind === 'names' ? general.names : undefined, 'everything');
}

/** The settings with those of a machine in place of the general ones. */
function onMachine(resolved: Resolved, machine: MachineSettings): Resolved {
  const { name, allow, projectAllow, fileWrites, cwdRoots, projectRoots } = machine;
  const values = {
    ...resolved.values,
    fileWrites: fileWrites ?? resolved.values.fileWrites,
    ...(allow && { allowedCommands: [...allow] }),
    ...(cwdRoots && { allowedCwdRoots: [...cwdRoots] }),
  };
  const { allowedCommands: programs, allowedCwdRoots: folders, ...others } = resolved.limits;
  const narrowed = projectAllow ? narrowList(programs ?? ['*'], projectAllow, '*') : programs;
  const narrowedRoots = projectRoots ?? (cwdRoots ? undefined : folders);
  // The project's file has narrowed a machine's own list already.
  const limits = {
    ...others,
    ...(!allow && narrowed && { allowedCommands: [...narrowed] }),
    ...(narrowedRoots && { allowedCwdRoots: [...narrowedRoots] }),
  };
  if (!allow) return { ...resolved, values, limits };
  const { source, where } = resolved.origins.allowedCommands;
  return {
    ...{ ...resolved, values, limits },
    origins: { ...resolved.origins, allowedCommands: { source, where } },
    // A rule that allows a program for the user's agents must not widen the list of a machine.
    policy: resolved.policy?.filter(({ verdict }) => verdict !== 'allow'),
    allowedBy: `machines.${name}.allow`,
  };
}

// The same object for the same machine, so that decisions can be remembered.
function perMachine(
  resolved: Resolved,
  rulesThere: (there: Resolved) => CallerRules,
): CallerRules['rulesOn'] {
  if (!resolved.machines) return undefined;
  const known = new Map<MachineSettings, CallerRules>();
  return (machine) => {
    const rules = known.get(machine) ?? rulesThere({ ...onMachine(resolved, machine), machines: undefined });
    known.set(machine, rules);
    return rules;
  };
}
