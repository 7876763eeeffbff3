import { startsItselfTwice, startsTwice } from '../programs/self-starting.ts';
import { type TextSpan, wordText } from '../words/arg.ts';
import { baseName } from '../words/paths.ts';
import { initialShell } from './create-walk.ts';
import { hiddenTexts } from './hidden-texts.ts';
import { keepDanger } from './keep-danger.ts';
import { parseScript } from './parse-script.ts';
import { WalkScope } from './scope.ts';
import type { CommandProblem, Invocation } from './survey.ts';
import type { Walk } from './walk.ts';

/**
 * Judges the literal texts of a command for danger if it runs text that the walk cannot know: decoded, read from a file, or
 * made by a program. `source` is the whole text of the command.
 */
export function judgeHidden(walk: Walk, source: string, cwd: string | undefined): void {
  if (walk.problems.some(isDanger)) return;
  judgeLiterals(walk, source, cwd);
  if (!walk.problems.some(isDanger)) walk.problems.push(...walk.disguised);
}

function isDanger({ scope }: CommandProblem): boolean {
  return scope === 'danger';
}

function judgeLiterals(walk: Walk, source: string, cwd: string | undefined): void {
  const runner =
    walk.problems.find(runsUnknown) ??
    walk.invocations.find((one) => runsFile(one, source) || runsUsualFile(one, walk));
  // A shell start file, a hook or a crontab is run later, exactly as it is written, so its words are not reordered.
  const at = runner ?? walk.problems.find(({ rule }) => rule === 'protected_file');
  if (at === undefined) return;
  walk.spend(source.length / 16);
  const { literals, invocations } = walk;
  if (
    invocations.some(({ name }) => runners.test(baseName(name))) &&
    literals.texts().some(startsItselfTwice)
  )
    walk.problems.push({ scope: 'danger', ...startsTwice, pos: at.pos, end: at.end });
  const runsCode = walk.problems.some(({ rule }) => rule === 'inline_code');
  const passed = runsCode ? invocations.flatMap(passedCommand) : [];
  for (const text of hiddenTexts(source, [...literals.texts(), ...passed], runner !== undefined))
    findDangerIn(walk, text, at, cwd);
}

const runners = /^(?:g?make|npm|yarn|pnpm)$/;

/** Problems that say that unknown text or an unknown program would be run. */
function runsUnknown({ scope, rule }: CommandProblem): boolean {
  return scope === 'finite' && unknownRules.has(rule);
}

const unknownRules = new Set('unknown_text unknown_program inline_code environment'.split(' '));

/** A shell script or another file by its path, whose name the command also uses elsewhere: it may have written that file. */
function runsFile({ name, args }: Invocation, source: string): boolean {
  const base = baseName(name);
  const file = shells.has(base) ? args.map(wordText).find((word) => /^[^-]/.test(word)) : name;
  if (file === undefined || (file === name && base === name) || /^\/(?:usr\/)?s?bin\//.test(file))
    return false;
  const last = baseName(file);
  return source.indexOf(last) !== source.lastIndexOf(last);
}

/** Returns true for a program that runs a file which the command writes, such as `make` if it writes a Makefile. */
function runsUsualFile({ name }: Invocation, { files }: Walk): boolean {
  const usual =
    files.size === 0 ? undefined : usualFiles.find(({ programs }) => programs.test(baseName(name)));
  return usual !== undefined && [...files.keys()].some((key) => usual.file.test(baseName(key)));
}

const usualFiles: readonly { readonly programs: RegExp; readonly file: RegExp }[] = [
  { programs: /^[gb]?make$/, file: /^(?:GNU)?[mM]akefile$/ },
  { programs: /^(?:npm|npx|yarn|pnpm|bun)$/, file: /^package\.json$/ },
  { programs: /^just$/, file: /^\.?[jJ]ustfile$/ },
  {
    programs: /^(?:rake|task|invoke|tox|nox)$/,
    file: /^(?:Rakefile|Taskfile.*|tasks\.py|tox\.ini|noxfile\.py)$/,
  },
  {
    programs: /^(?:systemctl|systemd-run|crontab|at|direnv)$/,
    file: /^(?:.*\.(?:service|cron|timer)|crontab|\.envrc)$/,
  },
];

const shells = new Set('sh bash dash zsh ksh ash busybox source .'.split(' '));

/** The words from a dangerous program on, which inline code may start: `perl -e 'system(@ARGV)' rm -rf /`. */
function passedCommand({ args }: Invocation): string[] {
  const at = args.findIndex(({ text }) => text !== undefined && destructive.test(text));
  return at < 0 ? [] : [args.slice(at).map(wordText).join(' ')];
}

const destructive =
  /^(?:\/(?:usr\/)?s?bin\/)?(?:rm|dd|mkfs(?:\.\w+)?|shred|wipefs|chmod|chown|find|mv|kill)$/;

/** Walks a text, or each of its lines if the whole does not parse, and keeps only the danger found in it. */
function findDangerIn(walk: Walk, text: string, { pos, end }: TextSpan, cwd: string | undefined): void {
  const before = walk.problems.length;
  const parts = parseScript(text).errors?.length ? text.split('\n') : [text];
  keepDanger(walk, () => {
    for (const part of parts) walk.text(part, { pos, end }, new WalkScope(initialShell(cwd), 'none'));
  });
  for (const problem of walk.problems.splice(before))
    walk.problems.push({ ...problem, reason: `${problem.reason}, in text that this command may run` });
}
