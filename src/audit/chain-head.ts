import { digestOf, genesis } from './chain.ts';

/** The end of a growing chain: the `seq` of the next record, and the digest that it has to contain as `prev`. */
export class ChainHead {
  /** The `seq` of the next record. */
  readonly sequence: number;
  readonly #lastLine: string | null;
  #digest: string | null = null;

  private constructor(sequence: number, lastLine: string | null) {
    this.sequence = sequence;
    this.#lastLine = lastLine;
  }

  /** The head of a chain without records. */
  static empty(): ChainHead {
    return new ChainHead(0, null);
  }

  /** The head after `line` has become record number `this.sequence`. */
  after(line: string): ChainHead {
    return new ChainHead(this.sequence + 1, line);
  }

  /**
   * The SHA-256 digest of the last line. Computed on the first call, because the command that waits for its record to
   * be written does not need it; only the next record does.
   */
  digest(): string {
    this.#digest ??= this.#lastLine === null ? genesis : digestOf(this.#lastLine);
    return this.#digest;
  }
}
