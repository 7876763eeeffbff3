import type { LogState } from '../worker/messages.ts';

/** Marks beside the scroll bar: matches, lines with errors, and the part that is on the screen. */
export function Ruler({
  state,
  view,
  at,
}: {
  readonly state: LogState | undefined;
  readonly view: HTMLElement | null;
  readonly at: number;
}) {
  if (!state || !view || state.lines === 0) return null;
  const count = Math.max(1, state.lines - state.firstLine);
  const place = (line: number) => `${((line - state.firstLine) / count) * 100}%`;
  const height = Math.min(1, view.clientHeight / Math.max(1, view.scrollHeight));
  return (
    <div class="ruler" aria-hidden="true">
      <i
        class="view"
        style={{ top: `${(at / Math.max(1, view.scrollHeight)) * 100}%`, height: `${height * 100}%` }}
      />
      {state.errorMarks.map((line) => (
        <i key={`e${line}`} class="e" style={{ top: place(line) }} />
      ))}
      {state.marks.map((line, index) => (
        <i key={`m${line}-${index}`} class="m" style={{ top: place(line) }} />
      ))}
    </div>
  );
}
