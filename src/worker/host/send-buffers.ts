import { largestBlockBytes } from '../io/spool.ts';

// Smaller pieces of output get new memory instead of a part of a reused buffer.
const smallestBytes = 16_384;
const mostFree = 4;

/** The most bytes of output that one frame can have. */
export const pieceBytes = largestBlockBytes;

/** Memory for one frame of output. */
export interface FrameMemory {
  /** Returns memory for a part of the frame. */
  allocate(bytes: number): Buffer;
  /** Makes the memory available to later frames; called once the frame is sent. */
  release(): void;
}

/**
 * Buffers for output that is being sent, reused for later frames: allocating a buffer for each frame of a command with much output
 * would take longer than copying the output, and the process would stay large.
 */
export class SendBuffers {
  #free: Buffer[] = [];

  /** Opens the memory of a frame with at most `pieceBytes`. */
  open(): FrameMemory {
    let buffer: Buffer | undefined;
    let used = 0;
    return {
      allocate: (bytes) => {
        if (bytes < smallestBytes) return Buffer.allocUnsafe(bytes);
        buffer ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
        used += bytes;
        return buffer.subarray(used - bytes, used);
      },
      release: () => {
        if (buffer && this.#free.length < mostFree) this.#free.push(buffer);
        buffer = undefined;
      },
    };
  }

  /** Frees the memory that no frame uses. */
  clear(): void {
    this.#free = [];
  }
}
