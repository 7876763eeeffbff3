import type { TextSpan } from '../words/arg.ts';
import type { Stdin } from '../words/output.ts';
import type { FunctionBody, Shell } from './shell.ts';
import type { Variable } from './variable.ts';

/** Where the walk stands. A class, so that all scopes look alike to V8 and one copies the other at no cost. */
export class WalkScope implements CallSite {
  readonly shell: Shell;
  readonly stdin: Stdin;
  readonly conditional: boolean = false;
  readonly forked: boolean = false;
  readonly background: boolean = false;
  readonly pipeline: number = 0;
  /** True where what is defined is there for later commands of a persistent shell. */
  readonly lasting: boolean = false;
  /** Set inside nested text, whose own positions mean nothing to the reader. */
  readonly within: TextSpan | undefined;
  readonly depth: number = 0;
  /** The program that the shell text was handed to. */
  readonly via: string | undefined;
  readonly frames: readonly Frame[] = [];
  /** Calls in the shells around this one, whose functions it may have too. */
  readonly outerFrames: readonly Frame[] = [];
  readonly loops: number = 0;
  /** True in the second round over a loop's body, where nothing new is called. */
  readonly secondRound: boolean = false;
  /** Aliases that are being expanded; bash does not expand them again. */
  readonly aliases: readonly string[] = [];
  /** True behind `((` that is no arithmetic: bash reads it twice and has lost its heredocs by then. */
  readonly readTwice: boolean = false;

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
    this.secondRound = from.secondRound;
    this.aliases = from.aliases;
    this.readTwice = from.readTwice;
  }

  /** The same place with some things changed. */
  with(changes: Partial<ScopeFields>): WalkScope {
    return Object.assign(this.copy(), changes);
  }

  /** The same place, to be changed before it is handed on; for what is done so often that `with` would show. */
  copy(): ScopeDraft {
    return new WalkScope(this.shell, this.stdin, this);
  }

  /** The same place inside a node that has no positions of its own to report. */
  at(node: TextSpan): WalkScope {
    if (this.within !== undefined) return this;
    const inner = this.copy();
    inner.within = { pos: node.pos, end: node.end };
    return inner;
  }

  /** A process of its own, whose shell goes its own way; to be changed before it is handed on. */
  fork(shell: Shell = this.shell.clone()): ScopeDraft {
    const away: ScopeDraft = new WalkScope(shell, this.stdin, this);
    away.forked = true;
    away.lasting = false;
    return away;
  }
}

type ScopeFields = Omit<WalkScope, 'with' | 'copy' | 'at' | 'fork'>;

/** A scope that nobody else has seen yet. */
type ScopeDraft = { -readonly [Field in keyof WalkScope]: WalkScope[Field] };

/** The circumstances of a call. */
export interface CallSite {
  readonly conditional: boolean;
  readonly forked: boolean;
  readonly background: boolean;
  /** A number for the innermost pipeline with several commands; 0 outside. */
  readonly pipeline: number;
}

/** One call of a function that is being looked into; recursion is judged on it. */
export interface Frame {
  readonly name: string;
  readonly bodies: readonly FunctionBody[];
  /** True once its arguments are taken to be anything. */
  readonly general: boolean;
  readonly locals: Map<string, Variable | undefined>;
  /** Locals behind whose back the outer variable may have changed. */
  readonly leaks: Set<string>;
  readonly recursions: CallSite[];
  readonly site: CallSite;
}

/** The span to report for a node: its own, or that of the word that holds the nested text. */
export function spanOf(node: TextSpan, scope: Pick<WalkScope, 'within'>): TextSpan {
  return scope.within ?? { pos: node.pos, end: node.end };
}
