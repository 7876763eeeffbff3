// One line below a command's output that tells that it is still at work, while it says nothing itself:
// 1. every piece of output first takes the line away, 2. after two seconds of silence it is drawn, and anew from then on,
// 3. at the end it is gone without a trace.
import type { Writable } from 'node:stream';
import type { Resources } from '../../contract/limits.ts';
import { colours, cut, lastLine, toDuration } from './terminal-text.ts';

/** The line. */
export interface LiveLine {
  /** What has to be written before output, so that it stands where it would without us. */
  makeWay(data: Uint8Array): string;
  used(resources: Resources): void;
  /** Takes the line away for good. */
  close(): void;
}

const silenceMs = 2_000;
const drawEveryMs = 500;
const narrowest = 20;
const longestTail = 4_096;
const decoder = new TextDecoder();

/** Makes a line at a terminal; it draws over its own text only. */
export function createLiveLine(
  terminal: Writable & { readonly columns?: number },
  now = () => performance.now(),
): LiveLine {
  const since = now();
  let spokeAt = since;
  let tail = '';
  let last = '';
  let cpuMs: number | null = null;
  /** The column that the command's own text ends in while the line is shown. */
  let shownAfter: number | undefined;

  const takeAway = () => {
    if (shownAfter === undefined) return '';
    const back = shownAfter === 0 ? '' : `\u001b[1A\u001b[${shownAfter + 1}G`;
    shownAfter = undefined;
    return `\r\u001b[2K${back}`;
  };
  const draw = () => {
    const width = (terminal.columns ?? 80) - 1;
    const column = columnOf(tail, width);
    if (now() - spokeAt < silenceMs || column === undefined || width < narrowest) return;
    const cpu = cpuMs === null ? '' : `, CPU ${(cpuMs / 1_000).toFixed(1)} s`;
    const text = `running for ${toDuration(now() - since)}${cpu}${last === '' ? '' : `: ${last}`}`;
    const start = shownAfter === undefined && column > 0 ? '\n' : '\r';
    shownAfter = column;
    terminal.write(`${start}\u001b[2K${cut(text, width)}`);
  };
  const timer = setInterval(draw, drawEveryMs);
  return {
    makeWay(data) {
      spokeAt = now();
      const before = takeAway();
      // Only the end of it matters, however much there is.
      tail = `${tail}${decoder.decode(data.subarray(-longestTail))}`;
      last = lastLine(tail) || last;
      tail = tail.slice(tail.lastIndexOf('\n') + 1).slice(-longestTail);
      return before;
    },
    used(resources) {
      cpuMs = resources.cpuMs;
    },
    close() {
      clearInterval(timer);
      const before = takeAway();
      if (before !== '') terminal.write(before);
    },
  };
}

/** Where the cursor stands after an unfinished line; unknown when more than plain letters moved it. */
function columnOf(tail: string, width: number): number | undefined {
  const text = tail.replace(colours, '');
  return /^[ -~]*$/.test(text) && text.length < width ? text.length : undefined;
}
