import { frameKinds, magic, maxFrameBytes } from '../contract/wire.ts';

/** A message of `contract/wire.ts`. */
export interface WireFrame {
  readonly kind: number;
  readonly number: number;
  /** The JSON, parsed; undefined if there is none. */
  readonly body: unknown;
  /** The raw bytes, in the pieces in which they arrived. */
  readonly raw: readonly Buffer[];
}

const headerBytes = 13;

/** The bytes of a frame, without copying `raw`. */
export function encodeFrame(
  kind: number,
  number: number,
  body: unknown,
  raw: readonly Uint8Array[] = [],
): Uint8Array[] {
  const json = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
  const rawBytes = raw.reduce((sum, { length }) => sum + length, 0);
  const length = headerBytes - 4 + json.length + rawBytes;
  if (length > maxFrameBytes) throw new Error(`A frame of ${length} bytes is too large.`);
  const head = Buffer.allocUnsafe(headerBytes + json.length);
  head.writeUInt32BE(length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(number, 5);
  head.writeUInt32BE(json.length, 9);
  json.copy(head, headerBytes);
  return [head, ...raw];
}

/** A login shell may print this much before the far side begins. */
export const maxBannerBytes = 65_536;
const knownKinds: ReadonlySet<number> = new Set(Object.values(frameKinds));

/** Splits a byte stream into frames. Pieces are kept as they arrive; only headers and JSON are copied. */
export class FrameReader {
  readonly #onFrame: (frame: WireFrame) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  readonly #maxBannerBytes: number;
  #hasBegun = false;

  constructor(onFrame: (frame: WireFrame) => void, maxBannerBytes: number) {
    this.#onFrame = onFrame;
    this.#maxBannerBytes = maxBannerBytes;
  }

  /** Adds bytes; throws if they are not frames. */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (!this.#hasBegun && !this.#skipToMagic()) return;
    while (this.#readFrame());
  }

  #skipToMagic(): boolean {
    const all = Buffer.concat(this.#pieces);
    const at = all.indexOf(magic, 0, 'latin1');
    if (at > this.#maxBannerBytes) throw notAWorker(all);
    if (at < 0) {
      // The beginning of `magic` may have arrived.
      if (all.length >= this.#maxBannerBytes + magic.length) throw notAWorker(all);
      this.#pieces = [all];
      return false;
    }
    const rest = all.subarray(at + magic.length);
    this.#pieces = [rest];
    this.#bytes = rest.length;
    this.#hasBegun = true;
    return true;
  }

  #readFrame(): boolean {
    if (this.#bytes < headerBytes) return false;
    const header = this.#peek(headerBytes);
    const length = header.readUInt32BE(0);
    const [kind, number, jsonBytes] = [header.readUInt8(4), header.readUInt32BE(5), header.readUInt32BE(9)];
    if (length > maxFrameBytes || length < headerBytes - 4 + jsonBytes || !knownKinds.has(kind))
      throw new Error('The stream from the other side is damaged.');
    if (this.#bytes < length + 4) return false;
    this.#take(headerBytes);
    const json = Buffer.concat(this.#take(jsonBytes));
    const raw = this.#take(length - (headerBytes - 4) - jsonBytes);
    this.#onFrame({ kind, number, body: jsonBytes === 0 ? undefined : JSON.parse(json.toString()), raw });
    return true;
  }

  #peek(count: number): Buffer {
    const [first] = this.#pieces;
    if (first && first.length >= count) return first;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  #take(count: number): Buffer[] {
    const taken: Buffer[] = [];
    let left = count;
    let used = 0;
    for (const piece of this.#pieces) {
      if (left === 0) break;
      if (piece.length > left) {
        taken.push(piece.subarray(0, left));
        this.#pieces[used] = piece.subarray(left);
        left = 0;
        break;
      }
      if (piece.length > 0) taken.push(piece);
      left -= piece.length;
      used += 1;
    }
    this.#pieces.splice(0, used);
    this.#bytes -= count;
    return taken;
  }
}

function notAWorker(found: Buffer): Error {
  const shown = found.toString('latin1', 0, 300).replace(/[^\x20-\x7e]+/g, ' ');
  return new Error(`The other side is not a nacre worker of this protocol; it sent: ${shown}`);
}
