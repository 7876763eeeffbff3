import type { TextSpan } from '../words/arg.ts';
import type { Stdin } from '../words/output.ts';
import type { FunctionBody, Shell } from './shell.ts';
import type { Variable } from './variable.ts';

/** The state that the walk passes down. A class, so that all scopes share one hidden class in V8 and copies are cheap. */
export class WalkScope implements CallSite {
  readonly shell: Shell;
  readonly stdin: Stdin;
  readonly conditional: boolean = false;
  readonly forked: boolean = false;
  readonly background: boolean = false;
  readonly pipeline: number = 0;
  /** True in a persistent shell outside of subshells: later commands see definitions made here. */
  readonly lasting: boolean = false;
  /** Set inside nested text: the span to report in place of positions within that text. */
  readonly within: TextSpan | undefined;
  readonly depth: number = 0;
  /** The program that runs the current shell text, such as `bash` in `bash -c '…'`. */
  readonly via: string | undefined;
  readonly frames: readonly Frame[] = [];
  /** Calls in the parent shells, whose functions this shell may call after `export -f`. */
  readonly outerFrames: readonly Frame[] = [];
  readonly loops: number = 0;
  /** The number of these loops that certainly have several rounds, such as `for i in 1 2 3`. */
  readonly repeats: number = 0;
  /** True in the second walk over a loop body, where calls are not counted as recursion again. */
  readonly secondRound: boolean = false;
  /** Aliases being expanded; bash does not expand them recursively. */
  readonly aliases: readonly string[] = [];
  /** True after `((` that is not arithmetic: bash reads it twice and has lost the heredocs by then. */
  readonly readTwice: boolean = false;
  /** True in the scope of the whole command, whose output nothing in it reads; copies do not inherit it. */
  readonly discardsOutput: boolean = false;

  constructor(shell: Shell, stdin: Stdin, from?: WalkScope) {
    this.shell = shell;
    this.stdin = stdin;
    if (from === undefined) return;
    this.conditional = from.conditional;
    this.forked = from.forked;
    this.background = from.background;
    this.pipeline = from.pipeline;
    this.lasting = from.lasting;
    this.within = from.within;
    this.depth = from.depth;
    this.via = from.via;
    this.frames = from.frames;
    this.outerFrames = from.outerFrames;
    this.loops = from.loops;
    this.repeats = from.repeats;
    this.secondRound = from.secondRound;
    this.aliases = from.aliases;
    this.readTwice = from.readTwice;
  }

  /** Returns a copy with some fields changed. */
  with(changes: Partial<ScopeFields>): WalkScope {
    return Object.assign(this.copy(), changes);
  }

  /** Returns a mutable copy; faster than `with` on hot paths. */
  copy(): ScopeDraft {
    return new WalkScope(this.shell, this.stdin, this);
  }

  /** Returns a scope that reports the span of `node` for everything inside it. */
  at(node: TextSpan): WalkScope {
    if (this.within !== undefined) return this;
    const inner = this.copy();
    inner.within = { pos: node.pos, end: node.end };
    return inner;
  }

  /** Returns a mutable scope for a subprocess, such as `(…)` or `… &`, with its own shell. */
  fork(shell: Shell = this.shell.clone()): ScopeDraft {
    const inner: ScopeDraft = new WalkScope(shell, this.stdin, this);
    inner.forked = true;
    inner.lasting = false;
    return inner;
  }
}

type ScopeFields = Omit<WalkScope, 'with' | 'copy' | 'at' | 'fork'>;

/** A `WalkScope` that may still be modified. */
type ScopeDraft = { -readonly [Field in keyof WalkScope]: WalkScope[Field] };

/** How a function call is reached; fork bombs are recognised by it (`judgeRecursion`). */
export interface CallSite {
  readonly conditional: boolean;
  readonly forked: boolean;
  readonly background: boolean;
  /** The id of the innermost pipeline with several commands; 0 outside of one. */
  readonly pipeline: number;
  /** The number of loops with several rounds around it. */
  readonly repeats: number;
}

/** A function call being walked; `recursions` collects the calls that lead back to it. */
export interface Frame {
  readonly name: string;
  readonly bodies: readonly FunctionBody[];
  /** True if its arguments count as unknown. */
  readonly general: boolean;
  readonly locals: Map<string, Variable | undefined>;
  /** Locals whose outer variable may have changed too, for example by `declare -g`. */
  readonly leaks: Set<string>;
  readonly recursions: CallSite[];
  readonly site: CallSite;
}

/** The span to report for a node: its own, or `within` inside nested text. */
export function spanOf(node: TextSpan, scope: Pick<WalkScope, 'within'>): TextSpan {
  return scope.within ?? { pos: node.pos, end: node.end };
}
