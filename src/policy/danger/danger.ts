// Danger (P8): what no list allows. Each rule has its own examples, checked by danger.test.ts.
// Rules look at one program's words; writes to devices are judged where files are written (../writes.ts), fork bombs
// where functions are called (../walk/functions.ts).
import type { Call } from '../programs/program.ts';
import type { Arg, Span } from '../walk/arg.ts';
import { deleteRules } from './deletes.ts';
import { diskRules } from './disks.ts';
import { ownershipRules } from './ownership.ts';
import { processRules } from './processes.ts';

/** What makes a call dangerous: the word and the reason. */
export interface DangerFound {
  readonly at: Arg;
  readonly reason: string;
}

/** One kind of danger. */
export interface DangerRule {
  /** A stable name, such as `recursive_delete`. */
  readonly rule: string;
  readonly programs: readonly string[] | RegExp;
  readonly test: (call: Call) => DangerFound | undefined;
  /** Commands that it stops under `*`. */
  readonly matches: readonly string[];
  /** Commands that look like them and run. */
  readonly spares: readonly string[];
}

/** Every rule. */
export const dangerRules: readonly DangerRule[] = [
  ...deleteRules,
  ...ownershipRules,
  ...diskRules,
  ...processRules,
];

const byName = new Map<string, DangerRule[]>();
const byPattern: { readonly pattern: RegExp; readonly rule: DangerRule }[] = [];
for (const rule of dangerRules) {
  if (rule.programs instanceof RegExp) byPattern.push({ pattern: rule.programs, rule });
  else for (const name of rule.programs) byName.set(name, [...(byName.get(name) ?? []), rule]);
}

const none: readonly never[] = [];
const mostNames = 512;
// A longer text that is cut out of a command may keep all of it in memory.
const longestName = 12;
const known = new Map<string, readonly DangerRule[]>();

// The same few programs are asked about again and again.
function rulesFor(name: string): readonly DangerRule[] {
  const found = known.get(name);
  if (found !== undefined) return found;
  const matching = byPattern.filter(({ pattern }) => pattern.test(name)).map(({ rule }) => rule);
  const rules = [...(byName.get(name) ?? []), ...matching];
  if (name.length > longestName) return rules;
  if (known.size >= mostNames) known.clear();
  known.set(name, rules);
  return rules;
}

/** The dangers of one call. */
export function dangerOf(call: Call): readonly (Span & { rule: string; reason: string })[] {
  const rules = rulesFor(call.name);
  if (rules.length === 0) return none;
  return rules.flatMap((rule) => {
    const found = rule.test(call);
    return found === undefined
      ? []
      : [{ rule: rule.rule, reason: found.reason, pos: found.at.pos, end: found.at.end }];
  });
}
