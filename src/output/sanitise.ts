// Bytes become safe text, chunk by chunk:
// 1. utf8.ts decodes; invalid bytes become U+FFFD;
// 2. strip-vt.ts removes terminal sequences and applies cursor moves and erasures to the `VisibleLine`;
// 3. visible-line.ts (with cell-row.ts) lets carriage returns and backspaces overwrite, as a terminal does;
// 4. visible-character.ts replaces control and deceptive characters with visible ones.
// Measured on two cores with Node 20: plain ASCII 850 MB/s or more, mixed UTF-8 350, CRLF 250, colours and progress bars 60.
import { type NulMeaning, VtStripper } from './strip-vt.ts';
import { createUtf8Decoder } from './utf8.ts';
import { VisibleLine } from './visible-line.ts';

/** Converts the bytes of one stream to text that is safe to show; the result does not depend on the chunking. */
export interface Sanitiser {
  /** Adds bytes and returns the text that is final by now, usually whole lines. */
  push(chunk: Uint8Array): string;
  /** The visible text of the unfinished line, for live display. */
  pending(): string;
  /** Returns the rest of the text, including the `pending` line. */
  end(): string;
}

/** Creates a sanitiser for one stream. Its memory is bounded even if a line or a sequence never ends. */
export function createSanitiser(options: { nul?: NulMeaning } = {}): Sanitiser {
  const decoder = createUtf8Decoder();
  const line = new VisibleLine();
  const stripper = new VtStripper(line, options.nul ?? 'picture');
  const feed = (text: string) => {
    if (text !== '') stripper.feed(text);
  };

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        feed(decoder.push(chunk.length <= pieceBytes ? chunk : chunk.subarray(at, at + pieceBytes)));
      }
      return line.take();
    },
    pending: () => line.pending,
    end() {
      feed(decoder.end());
      stripper.end();
      line.finish();
      return line.take();
    },
  };
}

/** Sanitises a complete stream. */
export function sanitise(bytes: Uint8Array, options: { nul?: NulMeaning } = {}): string {
  const sanitiser = createSanitiser(options);
  return sanitiser.push(bytes) + sanitiser.end();
}

// V8 substrings keep their parent string alive, so decode `pieceBytes` at a time to bound what an unfinished line retains.
const pieceBytes = 65_536;
