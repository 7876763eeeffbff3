import type { PolicyRule } from '../contract/decision.ts';
import { isListed } from './listed.ts';
import type { Invocation } from './walk/survey.ts';
import { type Arg, prefixOf } from './words/arg.ts';
import { globMatches } from './words/glob.ts';
import { baseName } from './words/paths.ts';

/** A rule that matches, and the program it matches. */
export interface MatchedRule {
  readonly rule: PolicyRule;
  readonly invocation: Invocation;
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

/** The strictest rule that matches one of the programs; of equally strict ones the first. */
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

function matches(rule: PolicyRule, invocation: Invocation, programDirs: readonly string[]): boolean {
  return (
    isNamed(rule, invocation.name, programDirs) &&
    matchesCwd(rule, invocation) &&
    (rule.args === undefined || matchesArgs(rule.args, invocation.args, rule.verdict !== 'allow'))
  );
}

/** A restricting rule holds for whatever bears the name; an allowing one only where a list would cover the path too. */
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
  // Where the directory is not known, a rule that restricts holds and one that allows does not.
  if (invocation.cwd === undefined) return verdict !== 'allow';
  return verdict === 'allow' ? invocation.cwd.every(inside) : invocation.cwd.some(inside);
}

/** Words against patterns; a word that is not known matches a restricting rule, and an allowing one only through `*`. */
function matchesArgs(patterns: readonly string[], args: readonly Arg[], generous: boolean): boolean {
  // The patterns that may be next after the words so far: commands have thousands of words, and rules several `...`.
  let next = afterAnyWords(patterns, [0]);
  for (const arg of args) {
    if (arg.many && generous && next.some((at) => at < patterns.length)) return true;
    const taken = next.flatMap((at) => {
      const pattern = patterns[at];
      if (pattern === undefined) return generous && arg.many ? [at] : [];
      if (pattern === '...') return [at];
      return matchesWord(pattern, arg, generous) ? [at + 1] : [];
    });
    next = afterAnyWords(patterns, taken);
    if (next.length === 0) return false;
  }
  return next.includes(patterns.length);
}

/** `...` may also stand for no word at all. */
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
