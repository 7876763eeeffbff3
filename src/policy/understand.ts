// Parses a command and lists the programs that it would run, as far as they are known before it runs:
// 1. `understand` parses the command once into a `Plan`.
// 2. `surveyCommand` builds the initial `Shell` from the facts: directory, home, a session's functions and aliases,
// 3. judges variables that the caller sets like assignments,
// 4. walks the parse tree or the argv (walk/create-walk.ts),
// 5. turns a reached limit or an unexpected exception into a problem that is refused under every list.
import type { ParsedScript } from 'unbash';
import { type Command, type CommandContext, maxCommandBytes } from '../contract/command.ts';
import type { Facts } from '../contract/facts.ts';
import { enterSession } from './enter-session.ts';
import { createWalk, initialShell, judgeRest, type WalkOptions } from './walk/create-walk.ts';
import { judgeHidden } from './walk/judge-hidden.ts';
import { judgePiped } from './walk/judge-piped.ts';
import { parseScript } from './walk/parse-script.ts';
import { WalkScope } from './walk/scope.ts';
import type { Survey } from './walk/survey.ts';
import { judgeUnknownWrites } from './walk/unknown-writes.ts';
import type { Walk } from './walk/walk.ts';
import { knownArg } from './words/arg.ts';
import { PolicyLimitError } from './words/limits.ts';
import { NacreFiles } from './words/nacre-files.ts';
import { callerInput, type Stdin } from './words/output.ts';

/** Parses a command once and lists the programs it names. */
export function understand(command: Command, context: CommandContext = {}): Plan {
  return new UnderstoodCommand(command, context);
}

// A class, because V8 keeps the variables that an object literal's getter captures (the parse tree) until a full GC.
class UnderstoodCommand implements Plan {
  readonly command: Command;
  readonly context: CommandContext;
  readonly script: ParsedScript | undefined;
  private names: readonly string[] | undefined;

  constructor(command: Command, context: CommandContext) {
    this.command = command;
    this.context = context;
    this.script = parsed(command);
  }

  get programs(): readonly string[] {
    this.names ??= namesIn(this);
    return this.names;
  }
}

/** Returns undefined for an argv command, and for text beyond the parser's limits, which `decide` refuses. */
function parsed(command: Command): ParsedScript | undefined {
  if (command.kind !== 'shell' || command.script.length > maxCommandBytes) return undefined;
  try {
    return parseScript(command.script);
  } catch (error) {
    if (error instanceof PolicyLimitError) return undefined;
    throw error;
  }
}

function namesIn(plan: Plan): readonly string[] {
  const { invocations } = surveyCommand(plan, { home: '/root', cwd: undefined, session: undefined });
  const names = invocations.filter((found) => found.needsListing).map((found) => found.name);
  return [...new Set(names)].filter((name) => name !== '' && !name.includes('/'));
}

/** The facts that the walk needs; `cwd` is undefined if the directory is unknown. */
export type SurveyFacts = Pick<Facts, 'home' | 'ownFiles' | 'session'> & { readonly cwd: string | undefined };

/** Walks a command and returns the programs it would start and the problems found. */
export function surveyCommand(plan: Plan, facts: SurveyFacts): Survey {
  const walk = walkOnce(plan, facts, { volatile: new Set(), writtenLater: new Set() });
  // Both sets are complete only after a walk, so walk again with them from the start.
  return walk.volatile.size + walk.writtenLater.size === 0 ? walk : walkOnce(plan, facts, walk);
}

function walkOnce(
  plan: Plan,
  facts: SurveyFacts,
  late: Pick<WalkOptions, 'volatile' | 'writtenLater'>,
): Walk {
  const { command } = plan;
  const length = command.kind === 'shell' ? command.script.length : 0;
  const texts = command.kind === 'shell' ? [command.script] : command.argv;
  const usesLastWord = facts.session !== undefined || texts.some((text) => underscore.test(text));
  const ownFiles = new NacreFiles(facts.ownFiles ?? [], facts.home);
  const walk = createWalk({
    ownFiles,
    home: facts.home,
    usesLastWord,
    length,
    volatile: late.volatile,
    writtenLater: late.writtenLater,
  });
  try {
    walkPlan(walk, plan, facts);
    judgeRest(walk);
    walk.problems.push(...judgePiped(walk, texts.join('\n')), ...judgeUnknownWrites(walk, texts.join('\n')));
    judgeHidden(walk, texts.join('\n'), facts.cwd);
  } catch (error) {
    walk.problems.unshift({ scope: 'always', ...explain(error), pos: 0, end: 0 });
  }
  return walk;
}

// `_` as a whole word, as in `$_`. In a session it counts as used, because a session function may use it.
const underscore = /(?<!\w)_(?!\w)/;

/** Any exception in the walk refuses the command, whether from a limit or from a bug. */
function explain(error: unknown): { rule: string; reason: string } {
  const limit =
    error instanceof PolicyLimitError
      ? error.message
      : error instanceof RangeError
        ? 'it is nested too deeply'
        : undefined;
  if (limit === undefined)
    return {
      rule: 'not_understood',
      reason: 'The command is not allowed, because it could not be analysed.',
    };
  return {
    rule: 'too_large',
    reason: `The command is not allowed, because it is too large to check: ${limit}.`,
  };
}

function walkPlan(walk: Walk, { command, context, script }: Plan, facts: SurveyFacts): void {
  const shell = initialShell(facts.cwd ?? facts.session?.cwd);
  const scope = new WalkScope(shell, stdinOf(context.stdin)).with({
    lasting: context.lasting === true || facts.session !== undefined,
  });
  const nowhere = { pos: 0, end: 0 };
  if (facts.session !== undefined) enterSession(walk, facts.session, scope);
  for (const [name, value] of Object.entries(context.env ?? {})) {
    walk.assign(name, { kind: 'text', values: [[value]] }, nowhere, scope, 'exported');
  }
  if (command.kind === 'shell') {
    if (script !== undefined) walk.script(script, scope.with({ discardsOutput: true }));
  } else {
    const spans = argvSpans(command.argv);
    const argv = command.argv.map((word, index) => knownArg(word, spans[index] ?? nowhere));
    walk.run(argv, scope, { by: 'program' });
  }
}

function stdinOf(stdin: Plan['context']['stdin']): Stdin {
  if (stdin?.kind === 'text') return { text: stdin.text, more: false };
  return stdin?.kind === 'none' ? 'none' : callerInput;
}

/** The position of each word in the argv as displayed, joined with single spaces. */
function argvSpans(argv: readonly string[]): { pos: number; end: number }[] {
  let pos = 0;
  return argv.map((word) => {
    const span = { pos, end: pos + word.length };
    pos = span.end + 1;
    return span;
  });
}

/** A parsed command with the names of the programs to look up. */
export interface Plan {
  readonly command: Command;
  readonly context: CommandContext;
  /** The parse tree; undefined for an `argv` command and for text that is too long or too deeply nested to parse. */
  readonly script: ParsedScript | undefined;
  /** Bare names (no slash) of programs that the command would run. */
  readonly programs: readonly string[];
}
