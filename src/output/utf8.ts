/** Decodes UTF-8 that arrives in chunks; a character may be split between two of them. */
export interface Utf8Decoder {
  /** Decodes all complete characters; invalid bytes become U+FFFD. */
  push(chunk: Uint8Array): string;
  /** Decodes an unfinished character at the end, as U+FFFD. */
  end(): string;
}

/** Creates a decoder, which buffers at most three bytes; see `unfinishedBytes`. */
export function createUtf8Decoder(): Utf8Decoder {
  let rest = nothing;
  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const complete = bytes.length - unfinishedBytes(bytes);
      // Copy, because the caller may reuse the buffer of `chunk`.
      rest = complete === bytes.length ? nothing : new Uint8Array(bytes.subarray(complete));
      return decode(bytes, complete);
    },
    end() {
      const last = decode(rest, rest.length);
      rest = nothing;
      return last;
    },
  };
}

const nothing = new Uint8Array(0);

/**
 * The number of bytes at the end that belong to an unfinished character.
 *
 * A lead byte always starts a new character, so cutting before it does not change the decoded text. Node's streaming
 * `TextDecoder` is several times slower on ASCII than this cut and a plain decode.
 */
export function unfinishedBytes(bytes: Uint8Array): number {
  const furthest = Math.min(3, bytes.length);
  for (let back = 1; back <= furthest; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < sequenceLength(byte) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return lead <= 0xf4 ? 4 : 1;
  return lead >= 0xe0 ? 3 : 2;
}

function decode(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8');
}
