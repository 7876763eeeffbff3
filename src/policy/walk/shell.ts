import type { CompoundCommand, CompoundList, Redirected } from 'unbash';
import type { Arg, TextSpan, Value } from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import { CopyOnWriteMap } from './copy-on-write-map.ts';
import { derivedHole, everyValue, union, unknownVariable, type Variable } from './variable.ts';

/** A function of the shell; `bodies` has several when branches define it differently. */
export interface ShellFunction {
  readonly name: string;
  readonly bodies: readonly FunctionBody[];
  /** False when the name might still mean a program. */
  readonly certain: boolean;
}

/** A function's body, and where it stands when its own positions belong to nested text. */
export interface FunctionBody {
  readonly node: CompoundCommand | Redirected | CompoundList;
  readonly within: TextSpan | undefined;
  readonly tracker: { called: boolean };
}

/** What a shell has defined beside its variables. */
export class Definitions {
  readonly functions: Map<string, ShellFunction>;
  readonly aliases: Map<string, string>;
  readonly exported: Set<string>;
  readonly exportedFunctions: Set<string>;
  readonly integers: Set<string>;
  /** Variables that write what they are given in another case. */
  readonly recased: Set<string>;
  readonly namerefs: Map<string, string>;
  readonly readonly: Set<string>;
  /** How many shells hold these. */
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
  }

  /** Whether some variables are not what they are given; every assignment asks. */
  get hasMarked(): boolean {
    const { integers, recased, namerefs, readonly } = this;
    return integers.size + recased.size + namerefs.size + readonly.size > 0;
  }
}

/** What one shell knows at one point of the command: variables, functions, aliases, arguments, directory. */
export class Shell {
  readonly variables: CopyOnWriteMap<Variable>;
  /** `$1`, `$2`, …; undefined when they are not known. */
  positional: readonly Arg[] | undefined;
  arg0: string | undefined;
  /** True in text for sh, which reads some of what bash knows in another way. */
  posix: boolean;
  /** Where it may stand; undefined when that is not known. */
  cwd: readonly string[] | undefined;
  private definitions: Definitions;

  constructor(from?: Shell) {
    this.variables = new CopyOnWriteMap(from?.variables);
    this.positional = from?.positional;
    this.arg0 = from?.arg0;
    this.posix = from?.posix ?? false;
    this.cwd = from?.cwd;
    this.definitions = from?.definitions ?? new Definitions();
    this.definitions.refCount++;
  }

  /** What it has defined, to look at. */
  get defined(): Definitions {
    return this.definitions;
  }

  /** What it has defined, to change. */
  define(): Definitions {
    if (this.definitions.refCount > 1) this.adopt(new Definitions(this.definitions));
    return this.definitions;
  }

  /** A copy that can go its own way: a subshell, a branch. */
  clone(): Shell {
    return new Shell(this);
  }

  /** Never changes from now on: whoever becomes it copies before writing, however often what it holds is let go of. */
  freeze(): this {
    this.variables.freeze();
    this.definitions.refCount = Number.POSITIVE_INFINITY;
    return this;
  }

  /** Lets go of what it shares, so that the others need not copy it; it must not be used any more. */
  release(): void {
    this.variables.release();
    this.definitions.refCount--;
  }

  /** The shell that a child bash starts with: what was exported, nothing else. */
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
    return copy;
  }

  /** Becomes what another shell is. */
  replaceWith(other: Shell): void {
    this.variables.replaceWith(other.variables);
    this.adopt(other.definitions);
    this.positional = other.positional;
    this.cwd = other.cwd;
  }

  /** Takes in what another branch may have left: afterwards everything holds that held in either. */
  merge(other: Shell): void {
    if (!this.variables.isSame(other.variables)) this.absorbVariables(other);
    if (this.definitions !== other.definitions) absorbDefinitions(this.define(), other.definitions);
    if (this.positional !== other.positional) this.positional = undefined;
    this.cwd = eitherCwd(this.cwd, other.cwd);
  }

  /** The variables that differ from an earlier copy. */
  changedSince(earlier: Shell): string[] {
    if (this.variables.isSame(earlier.variables)) return [];
    return this.variables.keys().filter((name) => this.variables.get(name) !== earlier.variables.get(name));
  }

  private adopt(definitions: Definitions): void {
    definitions.refCount++;
    this.definitions.refCount--;
    this.definitions = definitions;
  }

  private absorbVariables(other: Shell): void {
    for (const name of this.variables.names()) this.absorbVariable(name, other);
    for (const name of other.variables.names())
      if (!this.variables.has(name)) this.absorbVariable(name, other);
  }

  private absorbVariable(name: string, other: Shell): void {
    const mine = this.variables.get(name) ?? unknownVariable;
    const theirs = other.variables.get(name) ?? unknownVariable;
    if (mine !== theirs) this.variables.set(name, union(mine, theirs));
  }
}

function absorbDefinitions(mine: Definitions, theirs: Definitions): void {
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

/** Adds text to what a variable that bash sets by itself may be made of; text that evaluates to nothing changes nothing. */
export function addDerived({ variables }: Shell, name: string, value: Value): void {
  const { from } = derivedHole(value);
  if (from === undefined) return;
  const held = variables.get(name);
  const before = held === undefined ? '' : (derivedHole(everyValue(held).flat()).from ?? '');
  // A loop comes by again and again, and is only looked at again when something has changed.
  if (!before.includes(from)) variables.set(name, { kind: 'text', values: [[derivedHole([before, from])]] });
}
