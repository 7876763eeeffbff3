import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, type TextSpan, toArg, unknown, wordText } from '../words/arg.ts';
import { placeListed } from '../words/output.ts';
import type { Effect } from './program.ts';

/** An item that `xargs` or `parallel` reads: a known word, or any path in the folder that a program lists. */
export function listedItem(text: string, more: boolean, span: TextSpan): Arg {
  const isFolder = more && text.endsWith('/') && placeListed(text) !== undefined;
  return isFolder ? toArg([{ ...unknown, listed: text, operand: true }], span) : knownArg(text, span);
}

/** Reports `yes | xargs -P0`, which starts programs without end. With `-P4` they run in turn, four at once. */
export function startsEndlessly({ stdin, self }: ProgramCall, jobs: Arg | undefined): Effect[] {
  if (stdin === 'none' || stdin.endless !== true || jobs === undefined) return [];
  const isBounded = /^[1-9]\d{0,2}%?$/.test(wordText(jobs));
  const reason = 'it starts programs without end, all at once (a fork bomb)';
  return isBounded ? [] : [{ does: 'danger', at: self, rule: 'fork_bomb', reason }];
}
