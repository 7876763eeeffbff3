// Files that the same command writes and then passes to a program that executes their contents: `echo '1e x' > s; sed
// -f s a`. Files of earlier commands have unknown contents.
import { isEssentialFile } from '../danger/protected-places.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, patternOf } from '../words/arg.ts';
import { globMatches } from '../words/glob.ts';
import { anyOutput, type Output } from '../words/output.ts';
import { baseName, normalisePath } from '../words/paths.ts';
import type { Effect } from './program.ts';

/** The key of a file in `ProgramCall.files`; only its last component if the working directory is unknown. */
export function fileKey(path: string, cwd: readonly string[] | undefined): string {
  const [place, ...others] = cwd ?? [];
  const whole = others.length > 0 ? undefined : normalisePath(path, place);
  return whole ?? baseName(path);
}

/** The contents that the command has written to a file; undefined if it has not written it. */
export function writtenTo({ files, cwd }: ProgramCall, file: Arg): Output | undefined {
  if (files.size === 0) return undefined;
  const { text } = file;
  if (text !== undefined) return files.get(fileKey(text, cwd)) ?? files.get(baseName(text));
  const pattern = baseName(patternOf(file) ?? '*');
  return [...files.keys()].some((key) => globMatches(pattern, baseName(key))) ? anyOutput : undefined;
}

/** Judges the commands in files that the same command has written or prints (`<(…)`); if they are not known, refuses them. */
export function judgeWritten(
  call: ProgramCall,
  paths: readonly Arg[],
  judge: (text: Arg) => readonly Effect[],
): Effect[] {
  return paths.flatMap((path): readonly Effect[] => {
    const output = printedTo(path) ?? writtenTo(call, path);
    if (output === undefined) return [];
    if (!output.more) return judge(knownArg(output.text, path));
    const reason = `${call.name} would run ${path.text ?? 'a file'}, which this command writes`;
    return [{ does: 'unknown', at: path, reason }];
  });
}

/** Writing a file that a script names; an essential one is lost, unless the script edits that file itself. */
export function writesTo(path: Arg, edited: readonly Arg[]): Effect[] {
  const write: Effect = { does: 'write', path };
  if (!isEssentialFile(path) || edited.some(({ text }) => text === path.text)) return [write];
  return [write, { does: 'danger', at: path, rule: 'essential_file', reason: `it replaces ${path.text}` }];
}

/** The output of the program in `<(…)`. */
function printedTo({ pieces: [piece] }: Arg): Output | undefined {
  if (typeof piece !== 'object' || piece.hole !== 'process') return undefined;
  return piece.output === undefined ? anyOutput : { text: piece.output, more: false };
}

/** Returns true if the command has written the settings of a bare repository, which git would find in the directory. */
export function hasWrittenRepository({ files }: ProgramCall): boolean {
  for (const path of files.keys()) {
    if (baseName(path) === 'HEAD' && files.has(`${path.slice(0, -'HEAD'.length)}config`)) return true;
  }
  return false;
}
