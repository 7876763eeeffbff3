// One walk over one command:
// 1. `script` visits the statements in order and tracks the state of the shell (`Shell`).
// 2. Words are expanded as far as they can be known; substitutions in them are walked on the way.
// 3. `run` records each program and asks its entry in ../programs for its effects.
// 4. Text that a shell would read is parsed and walked again, within limits.
// 5. Functions that were never called, and traps, are judged at the end (`judgeRest`).
import type { ArithmeticExpression, CompoundList, ParsedScript, PipelineNode, Word } from 'unbash';
import { type Arg, ownText, type Piece, type TextSpan, type Value } from '../words/arg.ts';
import { limits, PolicyLimitError } from '../words/limits.ts';
import type { NacreFiles } from '../words/nacre-files.ts';
import { anyOutput, type Output, possibleOutput } from '../words/output.ts';
import { assignVariable } from './assign.ts';
import { judgeDisguised } from './disguised-text.ts';
import { evaluateValue, walkArithmetic } from './evaluate.ts';
import { expandSingle } from './expand-word.ts';
import { certain } from './expansion.ts';
import { judgeWrite } from './judge-write.ts';
import { LiteralMarks } from './literal-marks.ts';
import { parseScript } from './parse-script.ts';
import { callProgram, runProgram } from './run.ts';
import type { WalkScope } from './scope.ts';
import { Shell, separatorsOf } from './shell.ts';
import { type Chunk, splitFields } from './split-fields.ts';
import type { CommandProblem, Invocation } from './survey.ts';
import { derivedHole, type Variable } from './variable.ts';
import type { Reevaluation, RunMode, Walk } from './walk.ts';
import { walkBody, walkPipeline, walkScript } from './walk-script.ts';

/** Creates a walk without findings, except the variables that traps are known to change. */
export function createWalk(options: WalkOptions): Walk {
  return new CommandWalk(options);
}

/** The options of a new walk. */
export interface WalkOptions extends Pick<Walk, 'home' | 'ownFiles' | 'usesLastWord'> {
  /** The length of the command, which adds to the step limit. */
  readonly length: number;
  readonly volatile: ReadonlySet<string>;
  /** Files that count as written from the start. */
  readonly writtenLater: ReadonlySet<string>;
}

class CommandWalk implements Walk {
  readonly home: string;
  readonly ownFiles: NacreFiles;
  readonly links: Walk['links'] = new Map();
  readonly usesLastWord: boolean;
  readonly invocations: Invocation[] = [];
  readonly problems: CommandProblem[] = [];
  readonly deferred: Walk['deferred'] = [];
  readonly volatile: Set<string>;
  readonly assigned: Walk['assigned'] = [];
  readonly literals = new LiteralMarks();
  readonly files: Walk['files'] = new Map();
  readonly inputs: Walk['inputs'] = new Map();
  readonly writtenTwice = new Set<string>();
  readonly writtenLater = new Set<string>();
  readonly unknownWrites: Walk['unknownWrites'] = [];
  readonly disguised: Walk['disguised'] = [];
  readonly partlyRead: Walk['partlyRead'] = new Map();
  matchesHidden = false;
  hasBackground = false;
  private stepsLeft: number;
  private numbers = 0;

  constructor({ home, ownFiles, usesLastWord: usesLast, length, volatile, writtenLater }: WalkOptions) {
    for (const key of writtenLater) this.files.set(key, anyOutput);
    this.home = home;
    this.ownFiles = ownFiles;
    this.usesLastWord = usesLast;
    this.volatile = new Set(volatile);
    this.stepsLeft = Math.min(limits.steps + limits.stepsPerCharacter * length, limits.maxSteps);
  }

  spend(steps: number): void {
    this.stepsLeft -= steps;
    if (this.stepsLeft < 0)
      throw new PolicyLimitError('it has too many commands and words; put them into a script file');
  }

  nextPipelineId(): number {
    return ++this.numbers;
  }

  script(script: ParsedScript, scope: WalkScope): Output {
    return walkScript(this, script, scope);
  }

  node(node: PipelineNode, scope: WalkScope): Output {
    return walkPipeline(this, node, scope);
  }

  body(body: CompoundList, scope: WalkScope): Output {
    return walkBody(this, body, scope);
  }

  text(text: string, span: TextSpan, scope: WalkScope): Output {
    return walkText(this, text, span, scope);
  }

  runText(text: Arg, scope: WalkScope): Output {
    return handText(this, text, scope);
  }

  capture(script: ParsedScript, scope: WalkScope): Output {
    return capture(this, script, scope);
  }

  single(word: Word, scope: WalkScope, quoted = false): readonly Value[] {
    return expandSingle(this, scope, word, quoted);
  }

  assign(
    name: string,
    variable: Variable,
    span: TextSpan,
    scope: WalkScope,
    how?: 'plain' | 'exported',
  ): void {
    assignVariable({ walk: this, scope, span }, name, variable, how);
  }

  split(value: Value, quoted: boolean, scope: WalkScope): Chunk[] {
    return quoted ? [certain(value)] : splitAt(value, separatorsOf(scope.shell));
  }

  arithmetic(expression: ArithmeticExpression | undefined, text: string, scope: WalkScope): void {
    walkArithmetic(this, expression, text, scope);
  }

  evaluate(text: string | Value, as: Reevaluation, span: TextSpan, scope: WalkScope): void {
    evaluateValue({ walk: this, scope, span }, typeof text === 'string' ? [text] : text, as);
  }

  run(argv: readonly Arg[], scope: WalkScope, how: RunMode): Output {
    return runProgram(this, argv, scope, how);
  }

  call(head: Arg, args: readonly Arg[], scope: WalkScope, how: RunMode): Output {
    return callProgram(this, head, args, scope, how);
  }

  write(target: Arg, program: string | undefined, scope: WalkScope): void {
    judgeWrite(this, target, program, scope);
  }
}

/** Judges what is known only at the end: traps, functions that were never called, arithmetic on lost text. */
export function judgeRest(walk: Walk): void {
  for (let at = 0; at < walk.deferred.length; at++) {
    const deferred = walk.deferred[at];
    if (deferred !== undefined && !deferred.tracker.called) deferred.judge();
  }
  walk.problems.push(...walk.literals.problems());
}

/** Walks a substitution. unbash parses its content lazily and each level again to the end, so depth is limited. */
function capture(walk: Walk, script: ParsedScript, scope: WalkScope): Output {
  if (scope.depth >= limits.depth) throw new PolicyLimitError('substitutions are nested too deeply');
  const inner = scope.fork();
  inner.depth = scope.depth + 1;
  // Functions and traps in `deferred` keep using the shell in which they were defined.
  const deferredBefore = walk.deferred.length;
  const output = walkScript(walk, script, inner);
  if (walk.deferred.length === deferredBefore) inner.shell.release();
  return output;
}

function walkText(walk: Walk, text: string, span: TextSpan, scope: WalkScope): Output {
  if (scope.depth >= limits.depth) throw new PolicyLimitError('shell text is nested too deeply');
  walk.spend(1 + text.length / 32);
  const inner = scope.with({ within: scope.within ?? span, depth: scope.depth + 1 });
  return walkScript(walk, parseScript(text), inner);
}

function handText(walk: Walk, text: Arg, scope: WalkScope): Output {
  // Bash drops NUL bytes, which changes where words and heredocs end.
  if (text.text !== undefined && !text.text.includes('\0')) return walkText(walk, text.text, text, scope);
  const reason = `The text that ${scope.via ?? 'a shell'} would run cannot be known, which is not allowed under an allow list`;
  walk.problems.push({
    scope: 'finite',
    rule: 'unknown_text',
    reason,
    program: scope.via,
    pos: text.pos,
    end: text.end,
  });
  for (const own of text.pieces.map(ownText))
    if (own !== undefined) judgeDisguised(walk, own, scope.via, text);
  // Check the known part for danger; a parse error in it proves nothing.
  const readable = text.pieces.map(readableText).join('');
  const script = parseScript(readable);
  return script.errors?.length
    ? anyOutput
    : possibleOutput([walkText(walk, readable, text, withListing(text, scope))]);
}

/** After a tilde, an unknown part is probably the name of the user. */
function readableText(piece: Piece, at: number, pieces: readonly Piece[]): string {
  if (typeof piece === 'string') return piece;
  const before = pieces[at - 1];
  return typeof before === 'string' && /(?:^|\s)~$/.test(before) ? '' : '$unknown_word';
}

/** Gives `$unknown_word` the value of a part that may be any file of a folder, as in `find -exec sh -c '> {}'`. */
function withListing({ pieces }: Arg, scope: WalkScope): WalkScope {
  const piece = pieces.find((one) => typeof one === 'object' && one.listed !== undefined);
  if (piece === undefined) return scope;
  const shell = scope.shell.clone();
  shell.variables.set('unknown_word', { kind: 'text', values: [[piece]] });
  return scope.with({ shell });
}

/** Splits a value at the separators; if they are unknown, so are the resulting words. */
function splitAt(value: Value, separators: string | undefined): Chunk[] {
  return separators === undefined
    ? [{ pieces: [derivedHole(value)], quoted: false, many: true }]
    : splitFields(value, separators);
}

/** Creates the shell in which a one-shot command starts. */
export function initialShell(cwd: string | undefined): Shell {
  const shell = new Shell();
  shell.cwd = cwd === undefined ? undefined : [cwd];
  shell.positional = [];
  shell.arg0 = 'bash';
  return shell;
}
