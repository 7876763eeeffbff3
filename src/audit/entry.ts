import { createHash } from 'node:crypto';
import type { Caller } from '../contract/caller.ts';
import type { CommandChanges } from '../contract/changes.ts';
import type { Command } from '../contract/command.ts';
import type { Decision, FoundProgram } from '../contract/decision.ts';
import type { FactsMachine } from '../contract/facts.ts';
import { type FailureCode, NacreError } from '../contract/failure.ts';
import type { EndRecord, ProtectedUse } from '../contract/job.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { ForwardedPort, ListeningPort } from '../contract/port.ts';
import { hidden, type Redact, type RedactInput, redactArguments } from './redact.ts';
import { namesSecret } from './secret-patterns.ts';

/** One event to record about one command. */
export type AuditEntry = { readonly id: string; readonly caller: Caller } & (
  | {
      readonly kind: 'asked';
      readonly command: Command;
      /** As the caller wrote it. */
      readonly cwd: string | undefined;
      readonly env: Readonly<Record<string, string>>;
      readonly from?: RequestOrigin | undefined;
      /** The name of the machine that it will run on; absent for this machine. */
      readonly machine?: string | undefined;
    }
  | {
      readonly kind: 'decided';
      readonly cwd: string;
      readonly decision: Decision;
      /** The machine whose facts it was judged by; absent for this machine. */
      readonly machine?: FactsMachine | undefined;
    }
  /** A user's answer; `by` defaults to the user of the client. */
  | {
      readonly kind: 'approved' | 'declined';
      readonly by?: string | undefined;
      /** A sentence of the user to the agent. */
      readonly note?: string | undefined;
    }
  /** Written before the command is started. */
  | { readonly kind: 'started'; readonly cwd: string; readonly machine?: FactsMachine | undefined }
  | {
      readonly kind: 'input';
      readonly text: string;
      readonly keys: readonly string[];
      readonly eof: boolean;
      readonly secret: boolean;
      /** As in `asked`: a command of an earlier server has no such entry in this one. */
      readonly machine?: string | undefined;
    }
  | { readonly kind: 'stop'; readonly signal: string }
  /** A planned command that will not run, such as a dry run or a step after a failed one. */
  | { readonly kind: 'skipped'; readonly command: Command; readonly reason: string }
  /** An act of a person in a page: `id` is the command that it is about, or the id of the act itself. */
  | { readonly kind: PageAct; readonly detail?: string | undefined }
  /** A request without a valid token; nothing was run. */
  | { readonly kind: 'unknown_caller'; readonly reason: string }
  /** A port of a sandbox that was opened on 127.0.0.1, or closed there; `id` is that of the opening. */
  | { readonly kind: 'port_opened'; readonly port: AuditedPort }
  | { readonly kind: 'port_closed'; readonly port: AuditedPort; readonly reason: string }
  /** Kept changes of a command that are applied, discarded or undone; all of them if `paths` is empty. */
  | {
      readonly kind: 'changes';
      readonly action: 'apply' | 'discard' | 'undo';
      readonly paths: readonly string[];
    }
  | { readonly kind: 'finished'; readonly outcome: Finished }
  | { readonly kind: 'failed'; readonly error: unknown }
);

/** The connection and the persistent shell that a command comes from, and how it runs. */
export interface RequestOrigin {
  readonly connection?: string | undefined;
  /** The key of the persistent shell. */
  readonly shell?: string | undefined;
  readonly name?: string | undefined;
  readonly inBackground?: boolean | undefined;
  readonly terminal?: boolean | undefined;
}

/** Acts in a page that run no command. */
export const pageActs = [
  ...(['viewed', 'downloaded', 'signed_in', 'signed_out', 'linked', 'paused', 'resumed'] as const),
];

/** One of `pageActs`. */
export type PageAct = (typeof pageActs)[number];

/** A forwarded port, and the command that listens there, if it is known. */
export type AuditedPort = ForwardedPort & Pick<ListeningPort, 'command'>;

/** An `Outcome` without its text. */
export type Finished = Omit<Outcome, 'stdout' | 'stderr' | 'truncated' | 'warnings'> & {
  /** Present if a detached worker has signed the end. */
  readonly endRecord?: EndRecord | undefined;
};

const longestText = 16_384;
const mostPrograms = 100;
const mostPaths = 100;

/** The fields of a record, with secrets redacted. */
export function toRecord(
  entry: AuditEntry,
  redact: Redact,
  redactInput: RedactInput,
): Record<string, unknown> {
  if (entry.kind === 'finished' || entry.kind === 'failed') redactInput.forget(entry.id);
  const { id, caller, kind } = entry;
  const named = kind === 'failed' && isRefusal(entry.error) ? 'refused' : kind;
  return {
    kind: named,
    id,
    door: caller.door,
    client: redact(caller.client),
    ...(caller.token !== undefined && { token: caller.token }),
    ...details(entry, redact, redactInput),
  };
}

function isRefusal(error: unknown): boolean {
  return error instanceof NacreError && refusals.has(error.code);
}

const refusals: ReadonlySet<FailureCode> = new Set(['policy_denied', 'approval_required', 'cwd_not_allowed']);

function details(entry: AuditEntry, redact: Redact, redactInput: RedactInput): Record<string, unknown> {
  switch (entry.kind) {
    case 'asked':
      return {
        command: toCommandRecord(entry.command, redact),
        cwd: entry.cwd === undefined ? null : redact(entry.cwd),
        env: toEnvironmentRecord(entry.env, redact),
        ...(entry.machine !== undefined && { machine: entry.machine }),
        ...toRequestOrigin(entry.from ?? {}, redact),
        ...(entry.caller.traceparent !== undefined && { traceparent: redact(entry.caller.traceparent) }),
      };
    case 'decided': {
      const { verdict, rule, reason, programs } = entry.decision;
      const names = [...new Set(programs.map((program) => program.name))].slice(0, mostPrograms);
      const shown = names.map((name) => cut(redact(name)));
      const found = programs.slice(0, mostPrograms).map((one) => toPlaceRecord(one, redact));
      const decided = { verdict, rule, reason: cut(redact(reason)), programs: shown, found };
      return { cwd: redact(entry.cwd), ...toMachineRecord(entry.machine), ...decided };
    }
    case 'approved':
    case 'declined':
      return {
        by: redact(entry.by ?? `the user of ${entry.caller.client}`),
        ...(entry.note !== undefined && { note: cut(redact(entry.note)) }),
      };
    case 'viewed':
    case 'downloaded':
    case 'signed_in':
    case 'signed_out':
    case 'linked':
    case 'paused':
    case 'resumed':
      return entry.detail === undefined ? {} : { detail: redact(entry.detail) };
    case 'started':
      return { cwd: redact(entry.cwd), ...toMachineRecord(entry.machine) };
    case 'input': {
      const { text, keys, eof, secret } = entry;
      return { text: secret ? hidden : cut(redactInput(entry.id, text)), chars: text.length, keys, eof };
    }
    case 'skipped':
      return { command: toCommandRecord(entry.command, redact), reason: redact(entry.reason) };
    case 'unknown_caller':
      return { reason: entry.reason };
    case 'stop':
      return { signal: entry.signal };
    case 'port_opened':
      return toPortRecord(entry.port);
    case 'port_closed':
      return { ...toPortRecord(entry.port), reason: entry.reason };
    case 'changes':
      return {
        action: entry.action,
        paths: entry.paths.slice(0, mostPaths).map((path) => cut(redact(path))),
      };
    case 'finished':
      return toOutcomeRecord(entry.outcome, redact);
    case 'failed':
      return toFailureRecord(entry.error, redact);
  }
}

function toRequestOrigin(
  { connection, shell, name, inBackground, terminal }: RequestOrigin,
  redact: Redact,
): Record<string, unknown> {
  return {
    ...(connection !== undefined && { connection: redact(connection) }),
    ...(shell !== undefined && { shell: redact(toShellName(shell)) }),
    ...(name !== undefined && { name: redact(name) }),
    ...(inBackground && { background: true }),
    ...(terminal && { terminal: true }),
  };
}

function toPlaceRecord(
  { name, pos, end, via, entry }: FoundProgram,
  redact: Redact,
): Record<string, unknown> {
  return {
    ...{ name: cut(redact(name)), pos, end },
    ...(via !== undefined && { via: cut(redact(via)) }),
    ...(entry !== undefined && { entry: cut(redact(entry)) }),
  };
}

// The last part of a session key is the shell's name, in which `toSessionKey` escapes slashes.
function toShellName(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function toPortRecord({ port, hostPort, room, command }: AuditedPort): Record<string, unknown> {
  return { port, host_port: hostPort, connection: room, listener: command };
}

// Records only the beginning, length and digest of a long command. `cut` runs after `redact`, or half a secret could
// remain.
function toCommandRecord(command: Command, redact: Redact): unknown {
  if (command.kind === 'argv') return redactArguments(command.argv, redact).map(cut);
  const { script } = command;
  if (script.length <= longestText) return redact(script);
  const sha256 = createHash('sha256').update(script).digest('hex');
  return { beginning: cut(redact(script)), length: script.length, sha256 };
}

function toEnvironmentRecord(env: Readonly<Record<string, string>>, redact: Redact): Record<string, string> {
  const shown = Object.entries(env).map(([name, value]) => [
    name,
    namesSecret(name) ? hidden : cut(redact(value)),
  ]);
  return Object.fromEntries(shown);
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}

// Host names are redacted as well: a command can leak a secret in a DNS name.
function toOutcomeRecord(outcome: Finished, redact: Redact): Record<string, unknown> {
  const { status, cause, exitCode, signal, durationMs, stdoutBytes, stderrBytes, leftRunning } = outcome;
  return {
    status,
    cause,
    exit_code: exitCode,
    signal,
    duration_ms: durationMs,
    stdout_bytes: stdoutBytes,
    stderr_bytes: stderrBytes,
    stdout_sha256: outcome.digests?.stdout ?? null,
    stderr_sha256: outcome.digests?.stderr ?? null,
    left_running: leftRunning.length,
    denied_hosts: outcome.deniedHosts.map(redact),
    ...(outcome.deniedPrograms && { denied_programs: outcome.deniedPrograms.map(redact) }),
    ...(outcome.protectedUse && { protected_paths: toPaths(outcome.protectedUse, redact) }),
    ...(outcome.session?.restored && { shell_restored: true }),
    ...(outcome.changes && { changes: toChangesRecord(outcome.changes, redact) }),
    enforcement: outcome.enforcement,
    resources: outcome.resources,
    ...(outcome.endRecord && { end_record: toEndRecord(outcome.endRecord) }),
  };
}

function toMachineRecord(machine: FactsMachine | undefined): Record<string, string> {
  return machine ? { machine: machine.name, worker: machine.worker } : {};
}

function toEndRecord({ worker, key, startedAt, endedAt, signature }: EndRecord): Record<string, string> {
  return { worker, key, started_at: startedAt, ended_at: endedAt, signature };
}

function toChangesRecord(
  { changes, conflicts, id: _id, ...rest }: CommandChanges,
  redact: Redact,
): Record<string, unknown> {
  return { ...rest, conflicts: conflicts.length, paths: changes.map(({ path }) => redact(path)) };
}

function toPaths({ refused, changed }: ProtectedUse, redact: Redact): Record<string, readonly string[]> {
  return { refused: refused.map(redact), changed: changed.map(redact) };
}

function toFailureRecord(error: unknown, redact: Redact): Record<string, unknown> {
  if (!(error instanceof NacreError))
    return { code: 'internal', message: cut(redact(error instanceof Error ? error.message : String(error))) };
  const { code, message, hint } = error;
  const { remedy, node } = error.details as Partial<Decision>;
  return {
    ...{ code, message: cut(redact(message)) },
    ...(hint !== undefined && { hint: cut(redact(hint)) }),
    ...(remedy !== undefined && remedy !== hint && { remedy: cut(redact(remedy)) }),
    ...(node !== undefined && { piece: { pos: node.pos, end: node.end } }),
  };
}
