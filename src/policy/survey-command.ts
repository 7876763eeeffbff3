// What a command would do, as far as it can be known:
// 1. the shell it begins with is built from the facts: directory, home, a session's functions and aliases;
// 2. variables that the caller sets are judged like assignments;
// 3. the tree (or the argv) is walked, see walk/create-walk.ts;
// 4. a limit or anything unforeseen becomes a problem that refuses under every list.
import type { Facts } from '../contract/facts.ts';
import { enterSession } from './enter-session.ts';
import type { Plan } from './plan.ts';
import { createWalk, freshShell, judgeUncalled } from './walk/create-walk.ts';
import { WalkScope } from './walk/scope.ts';
import type { Survey } from './walk/survey.ts';
import type { Walk } from './walk/walk.ts';
import { knownArg } from './words/arg.ts';
import { PolicyLimitError } from './words/limits.ts';
import { anyOutput, type Stdin } from './words/output.ts';

/** The facts that the walk needs; without them the directory is unknown. */
export type SurveyFacts = Pick<Facts, 'home' | 'session'> & { readonly cwd: string | undefined };

/** Walks a command and lists the programs it would start and what speaks against it. */
export function surveyCommand(plan: Plan, facts: SurveyFacts): Survey {
  const walk = walkOnce(plan, facts, new Set());
  // What traps change is known at the end only, and counts from the beginning.
  return walk.volatile.size === 0 ? walk : walkOnce(plan, facts, walk.volatile);
}

function walkOnce(plan: Plan, facts: SurveyFacts, volatile: ReadonlySet<string>): Walk {
  const { command } = plan;
  const length = command.kind === 'shell' ? command.script.length : 0;
  const texts = command.kind === 'shell' ? [command.script] : command.argv;
  const usesLast = facts.session !== undefined || texts.some((text) => lastWord.test(text));
  const walk = createWalk({ home: facts.home, usesLast, length, volatile });
  try {
    walkPlan(walk, plan, facts);
    judgeUncalled(walk);
  } catch (error) {
    walk.problems.unshift({ scope: 'always', ...explain(error), pos: 0, end: 0 });
  }
  return walk;
}

// An underscore that is no part of a name; in a session a function may use it.
const lastWord = /(?<!\w)_(?!\w)/;

/** Whatever stops the walk refuses the command: a limit never opens, and neither does a mistake of our own. */
function explain(error: unknown): { rule: string; reason: string } {
  const limit =
    error instanceof PolicyLimitError
      ? error.message
      : error instanceof RangeError
        ? 'it is nested too deeply'
        : undefined;
  if (limit === undefined)
    return { rule: 'not_understood', reason: 'The command is not allowed, because it was not understood.' };
  return {
    rule: 'too_large',
    reason: `The command is not allowed, because it is more than can be looked through: ${limit}.`,
  };
}

function walkPlan(walk: Walk, { command, context, script }: Plan, facts: SurveyFacts): void {
  const shell = freshShell(facts.cwd ?? facts.session?.cwd);
  const scope = new WalkScope(shell, stdinOf(context.stdin)).with({
    lasting: context.lasting === true || facts.session !== undefined,
  });
  const nowhere = { pos: 0, end: 0 };
  if (facts.session !== undefined) enterSession(walk, facts.session, scope);
  for (const [name, value] of Object.entries(context.env ?? {})) {
    walk.assign(name, { kind: 'text', values: [[value]] }, nowhere, scope, 'exported');
  }
  if (command.kind === 'shell') {
    if (script !== undefined) walk.script(script, scope);
  } else {
    const spans = argvSpans(command.argv);
    const argv = command.argv.map((word, index) => knownArg(word, spans[index] ?? nowhere));
    walk.run(argv, scope, { by: 'program' });
  }
}

function stdinOf(stdin: Plan['context']['stdin']): Stdin {
  if (stdin?.kind === 'text') return { text: stdin.text, more: false };
  return stdin?.kind === 'none' ? 'none' : anyOutput;
}

/** Positions in the argv as it is shown: the words with a blank between. */
function argvSpans(argv: readonly string[]): { pos: number; end: number }[] {
  let pos = 0;
  return argv.map((word) => {
    const span = { pos, end: pos + word.length };
    pos = span.end + 1;
    return span;
  });
}
