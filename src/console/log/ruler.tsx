import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { LogState } from '../worker/messages.ts';

/** Marks next to the scroll bar: matches, lines with errors, and the part that is on the screen. */
export function Ruler({
  state,
  view,
}: {
  readonly state: LogState | undefined;
  readonly view: RefObject<HTMLElement | null>;
}) {
  const part = useRef<HTMLElement>(null);
  // Changing two properties in a frame is cheaper than rendering for every scroll event.
  useEffect(() => {
    const log = view.current;
    if (!log) return;
    let frame = 0;
    const place = () => {
      frame = 0;
      const whole = Math.max(1, log.scrollHeight);
      part.current?.toggleAttribute('hidden', log.scrollHeight <= log.clientHeight);
      part.current?.style.setProperty('top', `${(log.scrollTop / whole) * 100}%`);
      part.current?.style.setProperty('height', `${Math.min(1, log.clientHeight / whole) * 100}%`);
    };
    const request = () => {
      if (frame === 0) frame = requestAnimationFrame(place);
    };
    request();
    log.addEventListener('scroll', request, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      log.removeEventListener('scroll', request);
    };
  }, [state?.lines]);
  if (!state || state.lines === 0) return null;
  const count = Math.max(1, state.lines - state.firstLine);
  const toPlace = (line: number) => `${((line - state.firstLine) / count) * 100}%`;
  return (
    <div class="ruler" aria-hidden="true">
      <i class="view" ref={part} />
      {state.errorMarks.map((line) => (
        <i key={`e${line}`} class="e" style={{ top: toPlace(line) }} />
      ))}
      {state.marks.map((line, index) => (
        <i key={`m${line}-${index}`} class="m" style={{ top: toPlace(line) }} />
      ))}
    </div>
  );
}
