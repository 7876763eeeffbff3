import { dangerRulesFor } from '../danger/danger.ts';
import type { DangerRule } from '../danger/danger-rule.ts';
import { programNamed } from '../programs/catalog.ts';
import { controlBuiltins, outsideControls } from '../programs/control.ts';
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
  };
}

const printing = new Set(['echo', 'printf', 'seq']);
const reading = new Set(
  `awk base64 cat column comm cut dd egrep expand fgrep fmt fold gawk grep head iconv join jq nl paste pr rev rg sed shuf
    sort strings tac tail tee tr unexpand uniq xargs`.split(/\s+/),
);
