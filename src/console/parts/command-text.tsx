import type { ProgramPlace } from '../../contract/console.ts';
import { showOdd } from '../worker/visible-text.ts';

/** A command's text with the programs underlined that the policy found in it. Text that could mislead is shown by name. */
export function CommandText({
  text,
  programs,
}: {
  readonly text: string;
  readonly programs: readonly ProgramPlace[];
}) {
  const parts: (string | ProgramPlace)[] = [];
  let at = 0;
  for (const program of [...programs].sort((one, other) => one.pos - other.pos)) {
    const found = findIn(text, program);
    if (!found || found.pos < at) continue;
    parts.push(text.slice(at, found.pos), found);
    at = found.end;
  }
  parts.push(text.slice(at));
  return (
    <code>
      {parts.map((part, index) =>
        typeof part === 'string' ? (
          showOdd(part)
        ) : (
          <b key={index} title={showOdd(part.via ? `${part.name}, started by ${part.via}` : part.name)}>
            {showOdd(text.slice(part.pos, part.end))}
          </b>
        ),
      )}
    </code>
  );
}

// The place of a program in an argument, such as that of `bash -c`, is the whole argument; only its name is underlined.
// Redaction may have moved the text that the positions are about.
function findIn(text: string, program: ProgramPlace): ProgramPlace | undefined {
  const { name, pos, end } = program;
  const part = text.slice(pos, end);
  const base = name.slice(name.lastIndexOf('/') + 1);
  if (part === name || part.endsWith(base)) return program;
  const at = part.indexOf(base);
  return at < 0 || base === '' ? undefined : { ...program, pos: pos + at, end: pos + at + base.length };
}
