import { type ChangesMode, changesModes } from '../contract/changes.ts';
import type { PolicyRule } from '../contract/decision.ts';
import type { Invocation } from './walk/survey.ts';
import { type Arg, prefixOf } from './words/arg.ts';
import { globMatches } from './words/glob.ts';
import { baseName, directoryOf } from './words/paths.ts';

/** A matching rule and the program it matches. */
export interface MatchedRule {
  readonly rule: PolicyRule;
  readonly invocation: Invocation;
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

/** Returns the strictest matching rule (`deny` over `ask` over `allow`); the first of equally strict ones. */
export function ruleFor(
  invocations: readonly Invocation[],
  rules: readonly PolicyRule[],
  programDirs: readonly string[] = [],
): MatchedRule | undefined {
  let found: MatchedRule | undefined;
  for (const rule of rules) {
    if (found !== undefined && strictness[rule.verdict] <= strictness[found.rule.verdict]) continue;
    const invocation = invocations.find((candidate) => matches(rule, candidate, programDirs));
    if (invocation !== undefined) found = { rule, invocation };
  }
  return found;
}

/** The strictest `changes` of the matching rules. An unknown word matches, also in an `allow` rule. */
export function changesFor(
  invocations: readonly Invocation[],
  rules: readonly PolicyRule[],
): ChangesMode | undefined {
  const found = rules.filter(
    (rule) =>
      rule.changes !== undefined &&
      invocations.some((invocation) => matches({ ...rule, verdict: 'ask' }, invocation, [])),
  );
  return [...changesModes].reverse().find((mode) => found.some(({ changes }) => changes === mode));
}

function matches(rule: PolicyRule, invocation: Invocation, programDirs: readonly string[]): boolean {
  return (
    isNamed(rule, invocation.name, programDirs) &&
    matchesCwd(rule, invocation) &&
    (rule.args === undefined || matchesArgs(rule.args, invocation.args, rule.verdict !== 'allow'))
  );
}

/** A `deny` or `ask` rule matches every path with that base name; an `allow` rule only paths that `isListed` covers. */
function isNamed({ program, verdict }: PolicyRule, name: string, programDirs: readonly string[]): boolean {
  if (program === '*') return true;
  return verdict === 'allow'
    ? isListed(name, [program], programDirs)
    : program === name || program === baseName(name);
}

function matchesCwd({ cwd, verdict }: PolicyRule, invocation: Invocation): boolean {
  if (cwd === undefined) return true;
  const inside = (path: string): boolean =>
    path === cwd || path.startsWith(cwd.endsWith('/') ? cwd : `${cwd}/`);
  // If the directory is unknown, `deny` and `ask` rules match and `allow` rules do not.
  if (invocation.cwd === undefined) return verdict !== 'allow';
  return verdict === 'allow' ? invocation.cwd.every(inside) : invocation.cwd.some(inside);
}

/** Matches words against patterns. An unknown word matches a `deny` or `ask` rule; in an `allow` rule it matches `*` only. */
function matchesArgs(patterns: readonly string[], args: readonly Arg[], generous: boolean): boolean {
  // Track every pattern index that may come next; backtracking over several `...` and thousands of words would be slow.
  let next = afterAnyWords(patterns, [0]);
  for (const arg of args) {
    if (arg.many && generous && next.some((at) => at < patterns.length)) return true;
    const matched = next.flatMap((at) => {
      const pattern = patterns[at];
      if (pattern === undefined) return generous && arg.many ? [at] : [];
      if (pattern === '...') return [at];
      return matchesWord(pattern, arg, generous) ? [at + 1] : [];
    });
    next = afterAnyWords(patterns, matched);
    if (next.length === 0) return false;
  }
  return next.includes(patterns.length);
}

/** Adds the index after each `...`, which may also match no word. */
function afterAnyWords(patterns: readonly string[], places: readonly number[]): readonly number[] {
  const reached = new Set(places);
  for (const at of reached) if (patterns[at] === '...') reached.add(at + 1);
  return [...reached];
}

function matchesWord(pattern: string, arg: Arg, generous: boolean): boolean {
  if (arg.text !== undefined) return globMatches(pattern.replace(/[[\]?\\]/g, '\\$&'), arg.text);
  if (!generous) return pattern === '*' && !arg.many;
  const known = prefixOf(arg);
  const fixed = pattern.split('*')[0] ?? '';
  return known.startsWith(fixed) || fixed.startsWith(known);
}

const systemDirs = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];

/** Returns true if a program as written is listed (P3): `git`, `/usr/bin/git` by its base name, or a listed literal path. */
export function isListed(name: string, listed: readonly string[], programDirs: readonly string[]): boolean {
  if (listed.includes(name)) return true;
  const path = directPath(name);
  if (path === undefined) return false;
  if (!path.startsWith('/')) return isOfVenv(path, listed);
  const inPlace = [...systemDirs, ...programDirs].includes(directoryOf(path));
  return listed.includes(path) || (inPlace && listed.includes(baseName(path)));
}

/** Directories that only the system's administrator can replace with links. */
const fixedDirs = new Set([
  '/',
  '/usr',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local',
  '/usr/local/bin',
  '/bin',
  '/sbin',
]);

/** A path without `.` and doubled slashes; undefined if `..` follows a directory that may be a link to elsewhere. */
function directPath(name: string): string | undefined {
  if (!name.includes('/')) return undefined;
  const parts: string[] = name.startsWith('/') ? [''] : [];
  for (const part of name.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (fixedDirs.has(parts.join('/'))) parts.pop();
    else return undefined;
  }
  return parts.join('/');
}

/** A virtual environment in the workspace counts as Python, whose files a listed Python may run anyway. */
function isOfVenv(path: string, listed: readonly string[]): boolean {
  if (!isVenvFile(path)) return false;
  const program = baseName(path);
  if (!listed.some((name) => isPython(name))) return false;
  return (
    isPython(program) ||
    (/^(?:pip[\d.]*|pytest|ruff|mypy|black|flake8|isort|coverage)$/.test(program) && listed.includes(program))
  );
}

function isPython(name: string): boolean {
  return /^python[\d.]*$/.test(name);
}

function isVenvFile(path: string): boolean {
  return /^(?:[\w.-]+\/)*\.?venv\/bin\/[\w.-]+$/.test(path);
}

/** Returns true for `source .venv/bin/activate` where Python is listed. */
export function activatesVenv(
  { name, args }: Pick<Invocation, 'name' | 'args'>,
  listed: readonly string[],
): boolean {
  const path = name === 'source' || name === '.' ? directPath(args[0]?.text ?? '') : undefined;
  return (
    path !== undefined &&
    isVenvFile(path) &&
    path.endsWith('/activate') &&
    listed.some((one) => isPython(one))
  );
}
