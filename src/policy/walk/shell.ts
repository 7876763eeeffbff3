import type { CompoundCommand, CompoundList, Redirected } from 'unbash';
import { type Arg, type Hole, type Piece, type TextSpan, unknown, type Value } from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import { isSetByBash } from '../words/set-by-bash.ts';
import { CopyOnWriteMap } from './copy-on-write-map.ts';
import { eitherTrails } from './trails.ts';
import {
  derivedHole,
  everyValue,
  outsideVariable,
  takenHole,
  textIfKnown,
  union,
  unknownVariable,
  type Variable,
} from './variable.ts';

/** The trails of a shell that has not changed its directory. */
export const noTrails: readonly string[] = [''];

/** A shell function; it has several `bodies` if branches define it differently. */
export interface ShellFunction {
  readonly name: string;
  readonly bodies: readonly FunctionBody[];
  /** False if the name may still refer to a program, for example after `if x; then f() { …; }; fi`. */
  readonly certain: boolean;
}

/** A function body; `within` is its span if its own positions belong to nested text. */
export interface FunctionBody {
  readonly node: CompoundCommand | Redirected | CompoundList;
  readonly within: TextSpan | undefined;
  readonly tracker: { called: boolean };
}

/** Functions, aliases and variable attributes of a shell, shared by its copies until `define()` is called. */
export class Definitions {
  readonly functions: Map<string, ShellFunction>;
  readonly aliases: Map<string, string>;
  readonly exported: Set<string>;
  readonly exportedFunctions: Set<string>;
  readonly integers: Set<string>;
  /** Variables that change the case of assigned values (`declare -u`, `-l`, `-c`). */
  readonly recased: Set<string>;
  readonly namerefs: Map<string, string>;
  readonly readonly: Set<string>;
  /** True for variables that certainly are associative arrays, false for those that may be indexed. */
  readonly associative: Map<string, boolean>;
  /** The number of shells that share this object; `define()` copies it if there are several. */
  refCount = 0;

  constructor(from?: Definitions) {
    this.functions = new Map(from?.functions);
    this.aliases = new Map(from?.aliases);
    this.exported = new Set(from?.exported);
    this.exportedFunctions = new Set(from?.exportedFunctions);
    this.integers = new Set(from?.integers);
    this.recased = new Set(from?.recased);
    this.namerefs = new Map(from?.namerefs);
    this.readonly = new Set(from?.readonly);
    this.associative = new Map(from?.associative);
  }

  /** True if some variable is marked with `declare -i`, `-u`, `-l`, `-n` or `-r`; checked on every assignment. */
  get hasMarked(): boolean {
    const { integers, recased, namerefs, readonly } = this;
    return integers.size + recased.size + namerefs.size + readonly.size > 0;
  }
}

/** The value of IFS, at whose characters bash splits words; undefined if unknown. */
export function separatorsOf({ variables }: Shell): string | undefined {
  const ifs = variables.get('IFS');
  return ifs === undefined ? ' \t\n' : textIfKnown(ifs);
}

/** The possible working directories that are known. */
export function placesOf({ cwd, places }: Shell): readonly string[] {
  return cwd ?? places;
}

/** The state of a shell at one point of the command: variables, functions, aliases, arguments, directory. */
export class Shell {
  readonly variables: CopyOnWriteMap<Variable>;
  /** `$1`, `$2`, …; undefined if unknown. */
  positional: readonly Arg[] | undefined;
  /** The arguments as written, if their number is unknown, as after `set -- *`. */
  spread: readonly Arg[] | undefined;
  /** Any of the arguments, if their number is unknown: derived from all of them. */
  anyArgument: Hole = unknown;
  arg0: Piece | undefined;
  /** True in text for `sh`, which reads some bash syntax differently. */
  posix: boolean;
  /** The possible working directories, several after `cd x || true`; undefined if unknown. */
  cwd: readonly string[] | undefined;
  /** While the working directory is unknown: directories that it may be, for the danger rules, such as `/` after `cd ${x:-/}`. */
  places: readonly string[] = [];
  /** The directories to which `cd -` may return, for the danger rules. */
  previous: readonly string[] = [];
  /** The directories that `pushd` has put on the stack, for the danger rules. */
  stacked: readonly string[] = [];
  /** While the working directory is unknown: the relative paths that `cd` may have followed since, such as `.git`. */
  trails: readonly string[] = noTrails;
  /** True after `cd` to a folder whose name a program printed: it may be `.git`. */
  isAnywhere = false;
  /** True if a file contains that name. */
  isRead = false;
  private definitions: Definitions;

  constructor(from?: Shell) {
    this.variables = new CopyOnWriteMap(from?.variables);
    this.positional = from?.positional;
    this.spread = from?.spread;
    this.anyArgument = from?.anyArgument ?? unknown;
    this.arg0 = from?.arg0;
    this.posix = from?.posix ?? false;
    this.cwd = from?.cwd;
    this.places = from?.places ?? [];
    this.previous = from?.previous ?? [];
    this.stacked = from?.stacked ?? [];
    this.trails = from?.trails ?? noTrails;
    this.isAnywhere = from?.isAnywhere ?? false;
    this.isRead = from?.isRead ?? false;
    this.definitions = from?.definitions ?? new Definitions();
    this.definitions.refCount++;
  }

  /** The definitions, for reading. */
  get defined(): Definitions {
    return this.definitions;
  }

  /** The definitions, for writing; copied first if shared. */
  define(): Definitions {
    if (this.definitions.refCount > 1) this.adopt(new Definitions(this.definitions));
    return this.definitions;
  }

  /** Returns an independent copy, for a subshell or a branch. */
  clone(): Shell {
    return new Shell(this);
  }

  /** Freezes this shell: every user copies on write, even after `release()`. */
  freeze(): this {
    this.variables.freeze();
    this.definitions.refCount = Number.POSITIVE_INFINITY;
    return this;
  }

  /** Decrements the reference counts, so that other users need not copy; this shell must not be used afterwards. */
  release(): void {
    this.variables.release();
    this.definitions.refCount--;
  }

  /** Returns the shell that a child bash starts with, which has exported variables and functions only. */
  child(): Shell {
    const copy = new Shell();
    const { exported, exportedFunctions, functions } = this.definitions;
    const definitions = copy.define();
    for (const [name, variable] of this.variables) {
      copy.variables.set(name, exported.has(name) ? variable : unknownVariable);
    }
    for (const name of exportedFunctions) {
      const found = functions.get(name);
      if (found !== undefined) definitions.functions.set(name, found);
      definitions.exportedFunctions.add(name);
    }
    for (const name of exported) definitions.exported.add(name);
    copy.cwd = this.cwd;
    copy.places = this.places;
    copy.previous = this.previous;
    copy.trails = this.trails;
    copy.isAnywhere = this.isAnywhere;
    copy.isRead = this.isRead;
    return copy;
  }

  /** Sets `$1`, `$2`, …, as `set --` and function calls do. */
  setArguments(args: readonly Arg[] | undefined): void {
    const isKnown = args !== undefined && !args.some((arg) => arg.many);
    this.positional = isKnown ? args : undefined;
    this.spread = isKnown ? undefined : args;
    this.anyArgument = isKnown ? unknown : derivedHole((args ?? []).flatMap((arg) => arg.pieces));
  }

  /** Any one of the arguments, or a part of it. */
  someArgument(): Hole {
    const known = (this.positional ?? []).flatMap((arg) => arg.pieces);
    return known.length === 0 ? this.anyArgument : takenHole([...known, this.anyArgument]);
  }

  /** Replaces this state with that of another shell. */
  replaceWith(other: Shell): void {
    this.variables.replaceWith(other.variables);
    this.adopt(other.definitions);
    this.positional = other.positional;
    this.spread = other.spread;
    this.anyArgument = other.anyArgument;
    this.cwd = other.cwd;
    this.places = other.places;
    this.previous = other.previous;
    this.stacked = other.stacked;
    this.trails = other.trails;
    this.isAnywhere = other.isAnywhere;
    this.isRead = other.isRead;
  }

  /** Merges the state of another branch: afterwards everything that was possible in either is possible. */
  merge(other: Shell): void {
    if (!this.variables.isSame(other.variables)) this.mergeVariables(other);
    if (this.definitions !== other.definitions) mergeDefinitions(this.define(), other.definitions);
    if (this.positional !== other.positional || this.anyArgument !== other.anyArgument)
      this.mergeArguments(other);
    if (this.cwd !== other.cwd || this.places !== other.places)
      this.places = eitherPlaces(placesOf(this), placesOf(other));
    this.previous = eitherPlaces(this.previous, other.previous);
    this.stacked = eitherPlaces(this.stacked, other.stacked);
    this.cwd = eitherCwd(this.cwd, other.cwd);
    this.isAnywhere ||= other.isAnywhere;
    this.isRead ||= other.isRead;
    if (this.trails !== other.trails) this.trails = eitherTrails(this.trails, other.trails);
  }

  /** Returns the names of variables that differ from an earlier copy. */
  changedSince(earlier: Shell): string[] {
    if (this.variables.isSame(earlier.variables)) return [];
    return this.variables.keys().filter((name) => this.variables.get(name) !== earlier.variables.get(name));
  }

  private adopt(definitions: Definitions): void {
    definitions.refCount++;
    this.definitions.refCount--;
    this.definitions = definitions;
  }

  private mergeArguments(other: Shell): void {
    const pieces = [...(this.positional ?? []), ...(other.positional ?? [])].flatMap((arg) => arg.pieces);
    this.positional = undefined;
    this.spread = undefined;
    this.anyArgument = derivedHole([...pieces, this.anyArgument, other.anyArgument]);
  }

  private mergeVariables(other: Shell): void {
    for (const name of this.variables.names()) this.mergeVariable(name, other);
    for (const name of other.variables.names())
      if (!this.variables.has(name)) this.mergeVariable(name, other);
  }

  private mergeVariable(name: string, other: Shell): void {
    const mine = this.variables.get(name) ?? unsetVariable(name);
    const theirs = other.variables.get(name) ?? unsetVariable(name);
    if (mine !== theirs) this.variables.set(name, union(mine, theirs));
  }
}

function unsetVariable(name: string): Variable {
  return isSetByBash(name) ? unknownVariable : outsideVariable;
}

function mergeDefinitions(mine: Definitions, theirs: Definitions): void {
  for (const name of new Set([...mine.functions.keys(), ...theirs.functions.keys()])) {
    mine.functions.set(name, eitherFunction(name, mine.functions.get(name), theirs.functions.get(name)));
  }
  for (const [name, text] of theirs.aliases) mine.aliases.set(name, text);
  for (const name of theirs.exported) mine.exported.add(name);
  for (const name of theirs.exportedFunctions) mine.exportedFunctions.add(name);
  for (const name of theirs.integers) mine.integers.add(name);
  for (const name of theirs.recased) mine.recased.add(name);
  for (const [name, target] of theirs.namerefs) mine.namerefs.set(name, target);
  for (const name of theirs.readonly) mine.readonly.add(name);
  for (const name of new Set([...mine.associative.keys(), ...theirs.associative.keys()]))
    mine.associative.set(name, mine.associative.get(name) === true && theirs.associative.get(name) === true);
}

/** The places of two branches, or those of before and after a change. */
export function eitherPlaces(one: readonly string[], other: readonly string[]): readonly string[] {
  return one === other || other.length === 0 ? one : [...new Set([...one, ...other])].slice(0, limits.trails);
}

function eitherCwd(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === other) return one;
  if (one === undefined || other === undefined) return undefined;
  const both = [...new Set([...one, ...other])];
  return both.length > limits.values ? undefined : both;
}

function eitherFunction(
  name: string,
  one: ShellFunction | undefined,
  other: ShellFunction | undefined,
): ShellFunction {
  if (one === other && one !== undefined) return one;
  const bodies = [...new Set([...(one?.bodies ?? []), ...(other?.bodies ?? [])])];
  return { name, bodies, certain: one?.certain === true && other?.certain === true };
}

/** Adds text to what a variable set by bash (`$_`, `BASH_REMATCH`) may be derived from, if the text could be evaluated. */
export function addDerived({ variables }: Shell, name: string, value: Value): void {
  const { from } = takenHole(value);
  if (from === undefined) return;
  const current = variables.get(name);
  const before = current === undefined ? '' : (derivedHole(everyValue(current).flat()).from ?? '');
  // A loop body is walked again only if a variable changed, so do not add the same text twice.
  if (!before.includes(from)) variables.set(name, { kind: 'text', values: [[takenHole([before, from])]] });
}
