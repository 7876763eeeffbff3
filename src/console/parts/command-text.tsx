import type { CommandCard, ProgramPlace } from '../../contract/console.ts';
import { showOdd } from '../worker/visible-text.ts';

/**
 * A command's text. The programs that the policy found are underlined, and `piece`, the part that it refused, is marked. Characters
 * that could mislead are shown by name.
 */
export function CommandText({
  text,
  programs,
  piece = null,
  allowedBy,
}: {
  readonly text: string;
  readonly programs: readonly ProgramPlace[];
  readonly piece?: CommandCard['piece'];
  /** The entry that allows programs without one of their own. */
  readonly allowedBy?: string | undefined;
}) {
  const places = findPlaces(text, programs);
  const bounds = [0, text.length, ...places.flatMap(({ pos, end }) => [pos, end])];
  if (piece !== null) bounds.push(Math.min(piece.pos, text.length), Math.min(piece.end, text.length));
  const cuts = [...new Set(bounds)].sort((one, other) => one - other);
  return (
    <code>
      {cuts.slice(0, -1).map((from, index) => {
        const words = showOdd(text.slice(from, cuts[index + 1]));
        const place = places.find(({ pos, end }) => pos <= from && from < end);
        const shown = place ? <b title={describe(place, allowedBy)}>{words}</b> : words;
        const isPiece = piece !== null && piece.pos <= from && from < piece.end;
        return isPiece ? (
          <mark key={from} class="piece">
            {shown}
          </mark>
        ) : (
          <span key={from}>{shown}</span>
        );
      })}
    </code>
  );
}

function describe({ name, via, entry }: ProgramPlace, allowedBy: string | undefined): string {
  const allows = entry ?? allowedBy;
  const words = [
    name,
    ...(via === undefined ? [] : [`started by ${via}`]),
    ...(allows === undefined ? [] : [`allowed by the entry ${allows}`]),
  ];
  return showOdd(words.join(', '));
}

// The places without overlaps, in the order of the text.
function findPlaces(text: string, programs: readonly ProgramPlace[]): readonly ProgramPlace[] {
  const places: ProgramPlace[] = [];
  for (const program of [...programs].sort((one, other) => one.pos - other.pos)) {
    const found = findIn(text, program);
    if (found && found.pos >= (places.at(-1)?.end ?? 0)) places.push(found);
  }
  return places;
}

// The place of a program in an argument, such as that of `bash -c`, is the whole argument; only its name is underlined.
// Redaction may have shifted the text, so the positions may be wrong.
function findIn(text: string, program: ProgramPlace): ProgramPlace | undefined {
  const { name, pos, end } = program;
  const part = text.slice(pos, end);
  const base = name.slice(name.lastIndexOf('/') + 1);
  if (part === name || part.endsWith(base)) return program;
  const at = part.indexOf(base);
  return at < 0 || base === '' ? undefined : { ...program, pos: pos + at, end: pos + at + base.length };
}
