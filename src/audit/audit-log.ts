import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { createId } from '../support/create-id.ts';
import { type AuditEntry, toRecord } from './entry.ts';
import { createLineFile, type Fsync } from './line-file.ts';
import type { Redact } from './redact.ts';

/** What was asked, decided and done, in a file that only grows. */
export interface AuditLog {
  readonly path: string;
  /** Returns when the record is written; throws `audit_unavailable` when it cannot be. */
  record(entry: AuditEntry): void;
  /** Records what has already happened; what goes wrong is returned as sentences instead of being thrown. */
  tryRecord(entry: AuditEntry): readonly string[];
  close(): void;
}

/** How the log is kept. */
export interface AuditLogOptions {
  readonly dir: string;
  readonly fsync: Fsync;
  readonly redact: Redact;
}

const genesis = '0'.repeat(64);

/**
 * Makes the log of one server: JSON lines, each with the SHA-256 of the line before, so that a change, a gap or a
 * reordering shows. Writes are synchronous on purpose: a record has to be there before the effect it describes,
 * and a write to the page cache takes some microseconds, less than handing it to another thread.
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  const path = join(options.dir, fileName());
  const file = createLineFile(path, options.fsync);
  let sequence = 0;
  let previous = genesis;

  const record = (entry: AuditEntry) => {
    const time = new Date().toISOString();
    const body = { seq: sequence, time, prev: previous, ...toRecord(entry, options.redact) };
    const line = `${JSON.stringify(body)}\n`;
    try {
      file.append(line);
    } catch (cause) {
      throw unavailable(path, cause);
    }
    previous = createHash('sha256').update(line).digest('hex');
    sequence += 1;
  };

  return {
    path,
    record,
    tryRecord(entry) {
      try {
        record(entry);
        return [];
      } catch (error) {
        return [`This could not be recorded. ${(error as Error).message}`];
      }
    },
    close: () => file.close(),
  };
}

// The process number is for people; another server, in this process or in a container, may have the same.
function fileName(): string {
  const now = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  return `${createId(`${now}-${process.pid}`)}.jsonl`;
}

function unavailable(path: string, cause: unknown): NacreError {
  const { message } = cause as Error;
  return new NacreError('audit_unavailable', `The audit log ${path} cannot be written: ${message}`, {
    hint: 'Nothing runs without a record: free some space, or set audit_dir to a folder that can be written.',
    cause,
  });
}
