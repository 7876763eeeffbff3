// A status line below the output of a silent command, to show that it is still running:
// 1. each chunk of output first erases the line, 2. after two seconds of silence the line is drawn and then updated,
// 3. `close` erases it.
import type { Writable } from 'node:stream';
import type { Resources } from '../../contract/limits.ts';
import { colours, cut, lastLine, toDuration } from '../terminal-text.ts';

/** The status line of `nacre run`. */
export interface LiveLine {
  /** Returns the escape sequence to write before `data`, which erases the line and restores the cursor. */
  beforeOutput(data: Uint8Array): string;
  showUsage(resources: Resources): void;
  /** Erases the line and stops drawing it. */
  close(): void;
}

const silenceMs = 2_000;
const drawEveryMs = 500;
const minColumns = 20;
const maxTailBytes = 4_096;
const decoder = new TextDecoder();

/** Creates a status line on `terminal`. */
export function createLiveLine(
  terminal: Writable & { readonly columns?: number },
  now = () => performance.now(),
): LiveLine {
  const startedAt = now();
  let lastOutputAt = startedAt;
  let tail = '';
  let last = '';
  let cpuMs: number | null = null;
  /** The column at which the command's own output ends; undefined while the status line is not drawn. */
  let drawnAfter: number | undefined;

  const erase = () => {
    if (drawnAfter === undefined) return '';
    const back = drawnAfter === 0 ? '' : `\u001b[1A\u001b[${drawnAfter + 1}G`;
    drawnAfter = undefined;
    return `\r\u001b[2K${back}`;
  };
  const draw = () => {
    const width = (terminal.columns ?? 80) - 1;
    const column = columnOf(tail, width);
    if (now() - lastOutputAt < silenceMs || column === undefined || width < minColumns) return;
    const cpu = cpuMs === null ? '' : `, CPU ${(cpuMs / 1_000).toFixed(1)} s`;
    const text = `running for ${toDuration(now() - startedAt)}${cpu}${last === '' ? '' : `: ${last}`}`;
    const start = drawnAfter === undefined && column > 0 ? '\n' : '\r';
    drawnAfter = column;
    terminal.write(`${start}\u001b[2K${cut(text, width)}`);
  };
  const timer = setInterval(draw, drawEveryMs);
  return {
    beforeOutput(data) {
      lastOutputAt = now();
      const before = erase();
      // Only the last line is shown, so only the last `maxTailBytes` of a chunk are decoded.
      tail = `${tail}${decoder.decode(data.subarray(-maxTailBytes))}`;
      last = lastLine(tail) || last;
      tail = tail.slice(tail.lastIndexOf('\n') + 1).slice(-maxTailBytes);
      return before;
    },
    showUsage(resources) {
      cpuMs = resources.cpuMs;
    },
    close() {
      clearInterval(timer);
      const before = erase();
      if (before !== '') terminal.write(before);
    },
  };
}

/** The cursor column after an unfinished line; undefined if anything but printable ASCII may have moved the cursor. */
function columnOf(tail: string, width: number): number | undefined {
  const text = tail.replace(colours, '');
  return /^[ -~]*$/.test(text) && text.length < width ? text.length : undefined;
}
