// `nacre allow` and `nacre deny` as edits of the user's settings file. Allowing adds to the list, or for one project adds a
// rule. Denying always adds a rule, which also overrides the lists in clients' entries, and removes what allowed it.
import { NacreError } from '../contract/failure.ts';
import { addItems, readValues, removeItems, removeKey } from './edit-file.ts';

/** The programs to allow or deny, everywhere or in one project. */
export interface ProgramChange {
  readonly verdict: 'allow' | 'deny';
  readonly programs: readonly string[];
  /** The folder in which it applies, as a canonical path; undefined for all folders. */
  readonly project?: string | undefined;
}

/** The edited text, and notes for the user that the changed lines do not show. */
export interface ChangedPrograms {
  readonly text: string;
  readonly notes: readonly string[];
}

/** The programs of each preset, by its name. */
type PresetPrograms = Readonly<Record<string, readonly string[]>>;

/** Applies a change to the text of a settings file. */
export function changePrograms(
  text: string,
  { verdict, programs, project }: ProgramChange,
  presets: PresetPrograms,
): ChangedPrograms {
  return programs.reduce<ChangedPrograms>(
    (all, program) => {
      const one = { program, project };
      const { text: next, notes } = verdict === 'allow' ? allow(all.text, one, presets) : deny(all.text, one);
      return { text: next, notes: [...new Set([...all.notes, ...notes])] };
    },
    { text, notes: [] },
  );
}

interface OneProgram {
  readonly program: string;
  readonly project: string | undefined;
}

function allow(text: string, { program, project }: OneProgram, presets: PresetPrograms): ChangedPrograms {
  const undone = removeRules(text, isRule('deny', program, project));
  if (project !== undefined && rulesOf(undone).some(isRule('deny', program, undefined)))
    throw deniedEverywhere(program);
  const { preset, allowed_commands: own } = readValues(undone);
  const list = [...(presets[String(preset)] ?? []), ...toNames(own)];
  if (list.includes('*') || list.includes(program))
    return { text: undone, notes: undone === text ? [`${program} was already in your list.`] : [] };
  if (project !== undefined) {
    const rule = toRule('allow', program, project, 'The user allowed it in this project.');
    return rulesOf(undone).some(isRule('allow', program, project))
      ? { text: undone, notes: [`${program} was already allowed in ${project}.`] }
      : { text: addItems(undone, 'policy', [rule]), notes: [] };
  }
  const isWholeList = preset === undefined && own === undefined;
  return {
    text: addItems(undone, 'allowed_commands', [program]),
    notes: isWholeList ? [wholeList] : [],
  };
}

const wholeList =
  'Your settings file had no list of programs, so this is now the whole list. A line such as preset: dev in the file adds a ready-made list.';

function deny(text: string, { program, project }: OneProgram): ChangedPrograms {
  const listed =
    project === undefined ? removeItems(text, 'allowed_commands', (item) => item === program) : text;
  const undone = removeRules(
    listed,
    (rule) =>
      isRule('allow', program, project)(rule) || (project === undefined && isAllowSomewhere(rule, program)),
  );
  if (rulesOf(undone).some(isRule('deny', program, project)))
    return { text: undone, notes: undone === text ? [`${program} was already denied.`] : [] };
  const reason = project === undefined ? 'The user denied it.' : 'The user denied it in this project.';
  const name = program.slice(program.lastIndexOf('/') + 1);
  return {
    text: addItems(undone, 'policy', [toRule('deny', program, project, reason)]),
    notes:
      name === program
        ? []
        : [`Only the path ${program} is denied; nacre deny ${name} also denies the name.`],
  };
}

function removeRules(text: string, isGone: (rule: unknown) => boolean): string {
  const left = removeItems(text, 'policy', isGone);
  return left !== text && rulesOf(left).length === 0 ? removeKey(left, 'policy') : left;
}

interface FileRule {
  readonly verdict?: unknown;
  readonly program?: unknown;
  readonly args?: unknown;
  readonly cwd?: unknown;
}

/** Matches a rule for all arguments of a program in exactly this folder; rules with `args` were written by the user. */
function isRule(verdict: string, program: string, project: string | undefined) {
  return (item: unknown): boolean => {
    const rule = item as FileRule;
    return isAbout(rule, verdict, program) && rule.cwd === project;
  };
}

function isAllowSomewhere(item: unknown, program: string): boolean {
  return isAbout(item as FileRule, 'allow', program);
}

function isAbout(rule: FileRule, verdict: string, program: string): boolean {
  return rule.verdict === verdict && rule.program === program && rule.args === undefined;
}

function toRule(verdict: string, program: string, cwd: string | undefined, reason: string): object {
  return { verdict, program, cwd, reason, examples: { matches: [program] } };
}

function rulesOf(text: string): readonly unknown[] {
  const { policy } = readValues(text);
  return Array.isArray(policy) ? policy : [];
}

function toNames(list: unknown): readonly string[] {
  if (Array.isArray(list)) return list.map(String);
  return typeof list === 'string' ? list.split(',').map((name) => name.trim()) : [];
}

function deniedEverywhere(program: string): NacreError {
  return new NacreError('invalid_request', `A rule in your settings file denies ${program} everywhere.`, {
    hint: `Run nacre allow ${program} without --for to remove that rule; nothing was written.`,
  });
}
