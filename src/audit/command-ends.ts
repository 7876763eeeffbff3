import { createPublicKey, verify } from 'node:crypto';
import { signedEnd } from '../contract/wire.ts';

type RecordBody = Readonly<Record<string, unknown>>;

/** Checks the ends of commands while all records are read, in any order of files. */
export class CommandEnds {
  readonly #started = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #keys = new Map<string, string>();

  /** Adds a record; returns what is wrong with the end that it reports. */
  add(body: RecordBody): string | undefined {
    const { kind, id } = body;
    if (typeof id !== 'string') return undefined;
    if (kind === 'started') this.#started.add(id);
    if (kind !== 'finished' && kind !== 'failed') return undefined;
    this.#ended.add(id);
    return isObject(body.end_record) ? this.#checkEnd(body, body.end_record) : undefined;
  }

  /** The commands that were started and have no recorded end. */
  unfinished(): readonly string[] {
    return [...this.#started].filter((id) => !this.#ended.has(id));
  }

  // The key of a worker is in each of its ends, so the first one that was recorded pins it.
  #checkEnd(body: RecordBody, { worker, key, ...end }: RecordBody): string | undefined {
    if (typeof worker !== 'string' || typeof key !== 'string') return unsigned;
    const known = this.#keys.get(worker) ?? key;
    this.#keys.set(worker, known);
    if (known !== key) return `has an end that is signed by another key than earlier ends of ${worker}`;
    return isSigned(body, key, end) ? undefined : unsigned;
  }
}

const unsigned = 'has an end that does not match the signature of its worker';

function isSigned(body: RecordBody, key: string, { started_at, ended_at, signature }: RecordBody): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
    const text = signedEnd(
      {
        ...{ id: body.id, status: body.status, startedAt: started_at, durationMs: body.duration_ms },
        ...{ stdoutBytes: body.stdout_bytes, stderrBytes: body.stderr_bytes },
        digests: { stdout: body.stdout_sha256, stderr: body.stderr_sha256 },
        end: { cause: body.cause, exitCode: body.exit_code, signal: body.signal },
      },
      String(ended_at),
    );
    return verify(null, Buffer.from(text), publicKey, Buffer.from(String(signature), 'base64'));
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is RecordBody {
  return typeof value === 'object' && value !== null;
}
