// Decides on one command:
// 1. `surveyCommand` (understand.ts) lists the programs that it would start, and the problems found.
// 2. Under every list, even `*`: deny a command that does not parse or is too large, then a dangerous one.
// 3. Under a list of names: deny programs that are unknown before run time or not listed, and code that no listed
//    program covers. With `file_writes: none`: deny every visible file write.
// 4. Apply the rules from the settings; the strictest match wins.
// 5. With `confirm: unlisted`: ask before programs that are not considered safe.
import { showCommand } from '../contract/command.ts';
import type { Decision, FoundProgram, Rules } from '../contract/decision.ts';
import type { Facts } from '../contract/facts.ts';
import { withoutTrailing } from '../support/without-trailing.ts';
import { firstUnconfirmed, firstUnconfirmedWrite } from './confirm.ts';
import { entriesWithWords, findEntry, isCovered } from './list-entry.ts';
import { activatesVenv, changesFor, ruleFor } from './match-rules.ts';
import { nearestWay } from './nearest-way.ts';
import { type Plan, surveyCommand } from './understand.ts';
import type { CommandProblem, Invocation, Survey } from './walk/survey.ts';
import type { TextSpan } from './words/arg.ts';
import { baseName } from './words/paths.ts';

/** Decides whether a command may run, based on its parse tree, facts about the machine, and the rules. */
export function decide(plan: Plan, facts: Facts, rules: Rules): Decision {
  const survey = surveyFor(plan, facts);
  const { verdict, rule, reason, node, ...more } = judge(plan, survey, rules);
  const changes = rules.policy?.length ? changesFor(survey.invocations, rules.policy) : undefined;
  return {
    ...{ verdict, rule, reason, node, programs: foundPrograms(survey, rules) },
    ...(changes !== undefined && { changes }),
    ...more,
  };
}

/** Like `decide`, but without collecting the list of programs. */
export function verdictOn(plan: Plan, facts: Facts, rules: Rules): Judgement {
  return judge(plan, surveyFor(plan, facts), rules);
}

type Judgement = Omit<Decision, 'programs'>;

function surveyFor(plan: Plan, { home, ownFiles, session, cwd }: Facts): Survey {
  return surveyCommand(plan, { home, ownFiles, session, cwd: cwd.path });
}

function judge(plan: Plan, survey: Survey, rules: Rules): Judgement {
  const tooLong = plan.command.kind === 'shell' && plan.script === undefined;
  const checks = new Judge(showCommand(plan.command), survey, rules);
  return (
    (tooLong ? checks.tooLong() : undefined) ??
    checks.broken() ??
    checks.dangerous() ??
    checks.unlisted() ??
    checks.writing() ??
    checks.ruled() ??
    checks.unconfirmed() ??
    checks.allowed()
  );
}

class Judge {
  private readonly source: string;
  private readonly survey: Survey;
  private readonly rules: Rules;

  constructor(source: string, survey: Survey, rules: Rules) {
    this.source = source;
    this.survey = survey;
    this.rules = rules;
  }

  tooLong(): Judgement {
    return this.answer(
      'deny',
      'too_large',
      'The command is not allowed, because it is too long or nested too deeply.',
      undefined,
      { hint: 'Put it into a script, or run it in several steps.' },
    );
  }

  broken(): Judgement | undefined {
    const problem = this.first('always');
    return (
      problem &&
      this.refuse(problem, problem.reason, problem.hint ?? 'Write the command so that bash can parse it.')
    );
  }

  dangerous(): Judgement | undefined {
    const problem = this.rules.danger === 'block' ? this.first('danger') : undefined;
    if (problem === undefined) return undefined;
    const reason = `${problem.program ?? 'The command'} is blocked as dangerous: ${problem.reason}.`;
    return this.refuse(
      problem,
      reason,
      problem.hint ?? 'Name a narrower target, or ask the user how to proceed.',
      'Set danger to off.',
    );
  }

  /** The first problem, in text order, that a list of names does not allow. */
  unlisted(): Judgement | undefined {
    if (this.rules.allow.kind === 'all') return undefined;
    if (this.nothingAllowed()) return this.refuseAll();
    const missing = this.survey.invocations.find((found) => found.needsListing && !this.passes(found));
    const problem = this.first('finite');
    if (missing !== undefined && (problem === undefined || missing.pos <= problem.pos))
      return this.notListed(missing);
    if (problem === undefined) return undefined;
    const refusal = problem.reason.includes('not allowed') ? '' : ', which is not allowed';
    const reason = `${sentence(problem)}${refusal}`;
    return this.refuse(
      problem,
      `${reason}.`,
      problem.hint ?? 'Rewrite the command without it, or run it in separate steps.',
      this.rules.narrowedBy === undefined
        ? `Set ${this.rules.allowSetting} to *.`
        : `Set ${this.rules.allowSetting} to *, and remove the list from ${this.rules.narrowedBy}.`,
    );
  }

  /** The first file write, where `file_writes` is `none`. */
  writing(): Judgement | undefined {
    const problem = this.rules.fileWrites === 'none' ? this.first('write') : undefined;
    if (problem === undefined) return undefined;
    const reason = `${sentence(problem)} is not allowed, because commands may not write files here.`;
    return this.refuse(
      problem,
      reason,
      'Print the output instead of writing it to a file.',
      'Set file_writes to any.',
    );
  }

  ruled(): Judgement | undefined {
    const { policy = [], programDirs = [] } = this.rules;
    const found = ruleFor(this.survey.invocations, policy, programDirs);
    if (found === undefined || found.rule.verdict === 'allow') return undefined;
    const { rule, invocation } = found;
    const reason =
      rule.verdict === 'deny'
        ? `${invocation.name} is not allowed here: ${rule.reason}`
        : `${invocation.name} needs approval: ${rule.reason}`;
    return this.answer(rule.verdict, `rule:${rule.program}`, reason, invocation, {
      program: invocation.name,
      ...(rule.verdict === 'deny' && { hint: 'Do it another way, or ask the user to change the rule.' }),
      remedy: 'Change the rule in the policy section of the settings.',
    });
  }

  unconfirmed(): Judgement | undefined {
    const { confirm, programDirs = [] } = this.rules;
    if (confirm !== 'unlisted') return undefined;
    const remedy = 'Set confirm to never.';
    const found = firstUnconfirmed(this.survey.invocations, programDirs);
    if (found !== undefined) {
      const reason = `${found.name} needs approval, because it is not one of the commands considered safe.`;
      return this.answer('ask', 'confirm', reason, found, { program: found.name, remedy });
    }
    const written = firstUnconfirmedWrite(this.survey);
    if (written !== undefined) {
      const reason = `The command needs approval, because ${written.program ?? 'it'} writes a file.`;
      return this.answer('ask', 'confirm', reason, written, { program: written.program, remedy });
    }
    const unclear = this.first('finite');
    const reason = 'The command needs approval, because not everything it would run or write can be known.';
    return unclear && this.answer('ask', 'confirm', reason, unclear, { program: unclear.program, remedy });
  }

  allowed(): Judgement {
    const all = this.rules.allow.kind === 'all';
    return this.answer(
      'allow',
      all ? 'all_allowed' : 'listed',
      all ? 'Every program is allowed.' : `Every program is listed.${this.note()}`,
      undefined,
    );
  }

  /** Notes what an allow list cannot judge, such as inline code. */
  private note(): string {
    const found = this.first('note');
    return found === undefined ? '' : ` ${found.reason}.`;
  }

  private first(scope: CommandProblem['scope']): CommandProblem | undefined {
    let first: CommandProblem | undefined;
    for (const problem of this.survey.problems)
      if (
        problem.scope === scope &&
        (first === undefined || problem.pos < first.pos) &&
        !isUnprotected(problem, this.rules)
      )
        first = problem;
    return first;
  }

  private nothingAllowed(): boolean {
    const { allow, policy = [] } = this.rules;
    return allow.kind === 'none' && !policy.some(({ verdict }) => verdict === 'allow');
  }

  /** Without a list nothing runs, not even `cd` and `true`, which need not be listed under a list. */
  private refuseAll(): Judgement {
    const { invocations } = this.survey;
    const found = invocations.find(({ needsListing }) => needsListing) ?? invocations[0];
    const { allowSetting } = this.rules;
    const name = found?.name ?? 'The command';
    const remedy = `Set ${allowSetting} to the programs that may run, for example ${allowSetting}=${found?.name ?? 'ls,cat'}, or to * for all.`;
    const reason = `${name}${startedBy(found)} is not allowed: no program is, because ${allowSetting} is unset or empty.`;
    const program = found?.name;
    return this.answer('deny', 'not_listed', reason, found, { program, hint: remedy, remedy });
  }

  private passes(found: Invocation): boolean {
    const { allow, programDirs = [], policy = [] } = this.rules;
    if (allow.kind === 'names' && isCovered(found, allow.names, programDirs)) return true;
    if (allow.kind === 'names' && activatesVenv(found, allow.names)) return true;
    return ruleFor([found], policy, programDirs)?.rule.verdict === 'allow';
  }

  private notListed(found: Invocation): Judgement {
    const { narrowedBy, preset, general, programDirs = [] } = this.rules;
    // A caller's own list, such as an applet's permissions, may have a program that the server's list does not.
    const isOwn = general !== undefined && isCovered(found, general.names, programDirs);
    const allowSetting = isOwn ? general.setting : this.rules.allowSetting;
    const given = preset === undefined ? allowSetting : `the preset ${preset}`;
    const list = narrowedBy === undefined ? given : `${given} as narrowed by ${narrowedBy}`;
    const { allow } = this.rules;
    const forms = allow.kind === 'names' ? entriesWithWords(found.name, allow.names) : [];
    const why =
      forms.length === 0
        ? `it is not in ${list}`
        : `${list} allows it only as ${forms.slice(0, 9).join(', ')}`;
    const reason = `${found.name}${startedBy(found)} is not allowed, because ${why}.`;
    const hint = listHint(found.name, this.rules);
    return this.answer('deny', 'not_listed', reason, found, {
      program: found.name,
      hint,
      remedy: toListRemedy(found.name, { ...this.rules, allowSetting }),
    });
  }

  private refuse(problem: CommandProblem, reason: string, hint: string, remedy?: string): Judgement {
    return this.answer('deny', problem.rule, reason, problem, { program: problem.program, hint, remedy });
  }

  private answer(
    verdict: Decision['verdict'],
    rule: string,
    reason: string,
    span: TextSpan | undefined,
    more: Partial<Judgement> = {},
  ): Judgement {
    const node = span && { pos: span.pos, end: span.end, text: this.source.slice(span.pos, span.end) };
    return { verdict, rule, reason, node, ...more };
  }
}

/** Returns true for a write that the setting `unprotected` allows; files of the home directory have no `protectedPath`. */
function isUnprotected({ protectedPath }: CommandProblem, { unprotected = [] }: Rules): boolean {
  if (protectedPath === undefined) return false;
  return unprotected.some(
    (name) => name === '*' || `${protectedPath}/`.startsWith(`${withoutTrailing(name, '/')}/`),
  );
}

// `nacre allow` edits the user's list, which is `ALLOWED_COMMANDS`; it cannot widen what a project's file narrows.
function toListRemedy(name: string, { allowSetting, narrowedBy }: Rules): string {
  if (narrowedBy !== undefined) return `Add ${name} to ${allowSetting} and to ${narrowedBy}.`;
  const canUseCommand = allowSetting === 'ALLOWED_COMMANDS' && /^[\w.+-]+$/.test(name);
  return canUseCommand
    ? `Run nacre allow ${name}, or add ${name} to ${allowSetting}.`
    : `Add ${name} to ${allowSetting}.`;
}

/** Lists the programs in text order; a program at one position with one `via` is listed once. */
function foundPrograms({ invocations }: Survey, { allow, programDirs = [] }: Rules): FoundProgram[] {
  const programs: FoundProgram[] = [];
  // Several programs share a position only in text for another shell, so names are compared only there.
  let atPosition: Map<string, (string | undefined)[]> | undefined;
  let last: Invocation | undefined;
  for (const found of inOrder(invocations)) {
    const { name, pos, end, via } = found;
    if (last === undefined || pos !== last.pos) atPosition = undefined;
    else {
      atPosition ??= new Map([[last.name, [last.via]]]);
      const starters = atPosition.get(name);
      if (starters?.includes(via)) continue;
      if (starters === undefined) atPosition.set(name, [via]);
      else starters.push(via);
    }
    const entry = allow.kind === 'names' ? findEntry(found, allow.names, programDirs) : undefined;
    programs.push({ name, pos, end, via, ...(entry !== undefined && { entry }) });
    last = found;
  }
  return programs;
}

function inOrder(invocations: readonly Invocation[]): readonly Invocation[] {
  let before = 0;
  for (const { pos } of invocations) {
    if (pos < before) return [...invocations].sort((one, other) => one.pos - other.pos);
    before = pos;
  }
  return invocations;
}

function startedBy(found: Invocation | undefined): string {
  return found?.via === undefined ? '' : ` (started by ${found.via})`;
}

const maxShown = 20;

function listHint(program: string, { allow }: Rules): string {
  const names = allow.kind === 'names' ? allow.names : [];
  if (names.length === 0) return 'No program is listed.';
  // Paths such as `node_modules/.bin/tsc` come first in a sorted list but are not informative.
  const shown = names.length > maxShown ? names.filter((name) => /^\w[^/]*$/.test(name)) : names;
  const list = `${shown.slice(0, maxShown).join(', ')}${names.length > maxShown ? ' and others' : ''}.`;
  const way = nearestWay(program, names);
  return way === undefined ? `Use one of the listed programs: ${list}` : `${way} Listed programs: ${list}`;
}

/** The reason, capitalised unless it begins with the program's name. */
function sentence({ reason, program = '' }: CommandProblem): string {
  return reason.startsWith(`${baseName(program)} `)
    ? reason
    : reason.charAt(0).toUpperCase() + reason.slice(1);
}
