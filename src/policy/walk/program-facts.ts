import { dangerRulesFor } from '../danger/danger.ts';
import type { DangerRule } from '../danger/danger-rule.ts';
import { programNamed } from '../programs/catalog.ts';
import { controlBuiltins, outsideControls } from '../programs/control.ts';
import { isPlainProgram } from '../programs/plain-programs.ts';
import type { ProgramEntry } from '../programs/program.ts';
import { baseName } from '../words/paths.ts';

/** Facts about a program that follow from its name alone. */
export interface ProgramFacts {
  readonly base: string;
  readonly entry: ProgramEntry | undefined;
  readonly dangers: readonly DangerRule[];
  /** True if it needs no listing when the shell runs it, such as `cd`. */
  readonly freeInShell: boolean;
  /** True if it needs no listing when a program starts it, such as `true`. */
  readonly freeOutside: boolean;
  /** Input that its output may contain: the arguments of `echo`, the stdin of `cat`. */
  readonly echoes: 'words' | 'stdin' | undefined;
  /** True if it runs code that is not known before, or is not known: it needs no arithmetic of bash to run programs. */
  readonly isOpen: boolean;
  /** True if it prints nothing itself and starts another program, as `env` does. */
  readonly wraps: boolean;
}

const maxNames = 512;
// A longer substring may be a slice that keeps the whole command in memory.
const maxNameLength = 12;
const known = new Map<string, ProgramFacts>();

/** Returns the facts for a program name as written in the command; cached, because the same few names repeat. */
export function programFacts(name: string): ProgramFacts {
  const found = known.get(name);
  if (found !== undefined) return found;
  const facts = factsOf(name);
  if (name.length > maxNameLength) return facts;
  if (known.size >= maxNames) known.clear();
  known.set(name, facts);
  return facts;
}

function factsOf(name: string): ProgramFacts {
  const base = baseName(name);
  return {
    base,
    entry: programNamed(base),
    dangers: dangerRulesFor(base),
    freeInShell: name === base && controlBuiltins.has(name),
    freeOutside: name === base && outsideControls.has(name),
    echoes: printing.has(base) ? 'words' : reading.has(base) ? 'stdin' : undefined,
    isOpen: isOpenProgram(base),
    wraps: wrapping.has(base),
  };
}

function isOpenProgram(base: string): boolean {
  const entry = programNamed(base);
  return (
    !isPlainProgram(base) &&
    !printingBuiltins.has(base) &&
    entry?.closed === undefined &&
    entry?.builtin !== 'only'
  );
}

/** Builtins without an entry that print text of the command. */
const printingBuiltins = new Set('caller dirs history type'.split(' '));
const printing = new Set(['basename', 'dirname', 'echo', 'expr', 'printf']);
const wrapping = new Set(
  'builtin command doas env eval ionice nice nohup setsid stdbuf sudo time timeout xargs'.split(' '),
);
const reading = new Set(
  `awk base64 bc cat column comm cut dd egrep expand fgrep fmt fold gawk grep head iconv join jq nl paste pr rev rg sed shuf
    sort strings tac tail tee tr unexpand uniq xargs`.split(/\s+/),
);
