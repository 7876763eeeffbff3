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
    const { pos, end } = program;
    if (pos < at || end <= pos || !isThere(text, program)) continue;
    parts.push(text.slice(at, pos), program);
    at = end;
  }
  parts.push(text.slice(at));
  return (
    <code>
      {parts.map((part, index) =>
        typeof part === 'string' ? (
          showOdd(part)
        ) : (
          <b key={index} title={part.via ? `${part.name}, started by ${part.via}` : part.name}>
            {showOdd(text.slice(part.pos, part.end))}
          </b>
        ),
      )}
    </code>
  );
}

// Redaction may have moved the text that the positions are about.
function isThere(text: string, { name, pos, end }: ProgramPlace): boolean {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return text.slice(pos, end).includes(base);
}
