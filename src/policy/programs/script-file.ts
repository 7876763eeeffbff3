import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, wordText } from '../words/arg.ts';
import { writtenTo } from './written-files.ts';

/** Classifies a script operand: a real file, known text (such as `<(echo …)`), or unknown text. */
export function scriptIn(call: ProgramCall, file: Arg): Arg | 'file' | 'unknown' {
  const { stdin } = call;
  const piece = file.pieces[0];
  if (typeof piece === 'object' && piece.hole === 'process') {
    return piece.output === undefined ? 'unknown' : knownArg(piece.output, file);
  }
  const name = wordText(file);
  if (/^(?:-|\/dev\/stdin|\/(?:dev|proc\/[^/]+)\/fd\/0)$/.test(name)) {
    if (stdin === 'none') return knownArg('', file);
    return stdin.more ? 'unknown' : knownArg(stdin.text, file);
  }
  const written = writtenTo(call, file);
  if (written !== undefined) return written.more ? 'unknown' : knownArg(written.text, file);
  return /^\/(?:dev|proc\/[^/]+)\/fd\//.test(name) ? 'unknown' : 'file';
}
