import { dangerOf } from '../danger/danger.ts';
import type { DangerRule } from '../danger/danger-rule.ts';
import type { OptionGrammar } from '../options/grammar.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { runsMore, withArgs } from '../programs/compare-effects.ts';
import type { ProgramEntry } from '../programs/program.ts';

import { type Arg, emptied } from '../words/arg.ts';
import type { Walk } from './walk.ts';

/** Judges a call as if unknown variables in its words were empty: `git fetch "$x--upload-pack=y"`, `rm "$x-rf" /`. */
export function judgeEmptied(
  walk: Walk,
  call: ProgramCall,
  entry: ProgramEntry | undefined,
  grammar: OptionGrammar,
  dangers: readonly DangerRule[],
): void {
  const at = call.args.find(mayBeRead);
  if (at === undefined) return;
  const { name: program } = call;
  const { pos, end } = at;
  const other = withArgs(
    call,
    call.args.map((arg) => emptied(arg) ?? arg),
    grammar,
  );
  for (const danger of dangerOf(other, dangers)) walk.problems.push({ scope: 'danger', program, ...danger });
  if (entry?.effects === undefined) return;
  const effects = entry.effects(other);
  for (const effect of effects)
    if (effect.does === 'danger')
      walk.problems.push({
        scope: 'danger',
        program,
        rule: effect.rule,
        reason: effect.reason,
        pos,
        end,
      });
  if (!runsMore(effects, entry.effects(call))) return;
  const reason = `${program} would read a word differently if a variable in it were empty, which is not allowed under an allow list`;
  const hint = 'Put a known text before the variable, or write the word out.';
  walk.problems.push({ scope: 'finite', rule: 'unknown_text', reason, hint, program, pos, end });
}

function mayBeRead(arg: Arg): boolean {
  return arg.text === undefined && arg.pieces.length > 1 && emptied(arg) !== undefined;
}
