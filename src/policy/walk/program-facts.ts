import { dangerRulesFor } from '../danger/danger.ts';
import type { DangerRule } from '../danger/danger-rule.ts';
import { programNamed } from '../programs/catalog.ts';
import { controlBuiltins, outsideControls } from '../programs/control.ts';
import type { ProgramEntry } from '../programs/program.ts';
import { baseName } from '../words/paths.ts';

/** What is known about a program by its name alone. */
export interface ProgramFacts {
  /** The name without its directory. */
  readonly base: string;
  readonly entry: ProgramEntry | undefined;
  readonly dangers: readonly DangerRule[];
  /** Whether it need not be listed when the shell runs it. */
  readonly freeInShell: boolean;
  /** Whether it need not be listed when a program starts it. */
  readonly freeOutside: boolean;
  /** What may be in its output: its words, or what it reads. */
  readonly passesOn: 'words' | 'stdin' | undefined;
}

const mostNames = 512;
// A longer text that is cut out of a command may keep all of it in memory.
const longestName = 12;
const known = new Map<string, ProgramFacts>();

/** Looks a program up, as it is written in the command; the same few are asked for again and again. */
export function programFacts(name: string): ProgramFacts {
  const found = known.get(name);
  if (found !== undefined) return found;
  const facts = factsOf(name);
  if (name.length > longestName) return facts;
  if (known.size >= mostNames) known.clear();
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
    passesOn: printing.has(base) ? 'words' : reading.has(base) ? 'stdin' : undefined,
  };
}

const printing = new Set(['echo', 'printf', 'seq']);
const reading = new Set(
  `awk base64 cat column comm cut dd egrep expand fgrep fmt fold gawk grep head iconv join jq nl paste pr rev rg sed shuf
    sort strings tac tail tee tr unexpand uniq xargs`.split(/\s+/),
);
