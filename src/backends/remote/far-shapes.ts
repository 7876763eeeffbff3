// The shapes of everything but output that a worker sends. Output is checked in check-far.ts, where its sizes must add up.
import type { ClosedSession } from '../../contract/backend.ts';
import {
  type Change,
  type ChangesEntry,
  type ChangesResult,
  type ChangesState,
  type CommandChanges,
  changeKinds,
  type FileType,
  type FileVersion,
  type ShownChange,
} from '../../contract/changes.ts';
import type { Facts, Place, PlaceProblem, SessionFacts } from '../../contract/facts.ts';
import { type Enforcement, sandboxNames, supervisionLevels } from '../../contract/isolation.ts';
import type {
  EndCause,
  EndRecord,
  JobEnd,
  JobObservation,
  JobState,
  JobStatus,
  ProcessRef,
} from '../../contract/job.ts';
import type { Resources } from '../../contract/limits.ts';
import type { ForwardedPort, RoomState } from '../../contract/port.ts';
import type { MachineReport } from '../../contract/report.ts';
import type { SessionEnd, SessionState } from '../../contract/session.ts';
import { type FarMachine, maxFrameBytes } from '../../contract/wire.ts';
import {
  always,
  count,
  type FarShape,
  fields,
  flag,
  listOf,
  moment,
  oneOf,
  optional,
  orNull,
  ShapeError,
  size,
  table,
  text,
  wellFormed,
} from '../../support/shapes.ts';

const texts = listOf(text());
// A persistent shell can have variables and functions of any size; the frame limits them.
const longText = text(maxFrameBytes);
const longTexts = listOf(longText, maxFrameBytes);

const processRef = fields<ProcessRef>({ pid: size, command: text() });
const processes = listOf(processRef);

const enforcement = fields<Enforcement>({
  level: oneOf(supervisionLevels),
  sandbox: oneOf(sandboxNames),
  files: oneOf(['off', 'landlock', 'namespace']),
  network: oneOf(['on', 'off', 'filtered']),
  processes: oneOf(['own', 'host']),
  setuid: flag,
  exec: oneOf(['off', 'enforced']),
  discardsTmp: optional(flag),
  gaps: texts,
});

const resources = fields<Resources>({
  cpuMs: orNull(size),
  peakMemoryBytes: orNull(size),
  processes: orNull(size),
  readBytes: orNull(size),
  writtenBytes: orNull(size),
});

const fileTypes: readonly FileType[] = ['file', 'folder', 'symlink', 'fifo', 'socket', 'device'];
const fileVersion = fields<FileVersion>({ type: oneOf(fileTypes), mode: count, bytes: size });
const changeFields = {
  kind: oneOf(changeKinds),
  path: text(),
  before: optional(fileVersion),
  after: optional(fileVersion),
  conflict: optional(always),
  links: optional(count),
};
const change = fields<Change>(changeFields);
const counts = { created: size, changed: size, deleted: size, mode: size };
const changesStates: readonly ChangesState[] = ['applied', 'held', 'partial'];
const commandChanges = fields<CommandChanges>({
  ...counts,
  id: text(),
  state: oneOf(changesStates),
  bytes: size,
  changes: listOf(change),
  conflicts: texts,
});

const sessionEnd = fields<SessionEnd>({
  cwd: text(),
  shellEnded: flag,
  ran: flag,
  restored: orNull(
    fields({
      reason: oneOf(['ended', 'idle', 'moved', 'layer']),
      variables: size,
      functions: size,
      aliases: size,
      lost: texts,
    }),
  ),
});

const causes: readonly EndCause[] = [
  ...(['exit', 'timeout', 'stopped', 'output_limit', 'spool_failed', 'supervision_lost'] as const),
  ...(['worker_lost', 'oom', 'cpu', 'processes', 'file_size'] as const),
];
const jobEnd = fields<JobEnd>({
  cause: oneOf(causes),
  exitCode: orNull(count),
  signal: orNull(text()),
  detail: orNull(text()),
  leftRunning: processes,
  kept: processes,
  survivors: processes,
  deniedHosts: texts,
  deniedPrograms: optional(texts),
  protectedUse: optional(fields({ refused: texts, changed: texts })),
  session: optional(sessionEnd),
  changes: optional(commandChanges),
  changesNote: optional(text()),
});

// `unreachable` is a state that only the near side sets.
const statuses: readonly JobStatus[] = [
  ...(['pending', 'running', 'completed', 'failed', 'timeout', 'killed', 'lost'] as const),
];
const endRecord = fields<EndRecord>({
  ...{ worker: text(), key: text(), startedAt: moment, endedAt: moment, signature: text() },
});

/** The state of a job. */
export const jobState: FarShape<JobState> = fields<JobState>({
  ...{ id: text(), status: oneOf(statuses), pid: orNull(size), startedAt: moment, durationMs: size },
  ...{ stdoutBytes: size, stderrBytes: size, withheldEnv: texts },
  digests: optional(fields({ stdout: text(), stderr: text() })),
  enforcement: orNull(enforcement),
  resources: orNull(resources),
  end: orNull(jobEnd),
  changesNote: optional(text()),
  outlives: optional(flag),
  unreachableSince: () => undefined,
  endRecord: optional(endRecord),
});

/** A kept command, as its worker reports it. */
export const keptReport = fields<{
  readonly id: string;
  readonly state: JobState;
  readonly typed?: string | undefined;
  readonly hide: readonly string[];
}>({ id: text(), state: jobState, typed: optional(longText), hide: texts });

const port: FarShape<number> = (value) => {
  const number = count(value);
  if (number <= 65_535) return number;
  throw new ShapeError('It is not a port.');
};

/** An observation of a job. */
export const observation: FarShape<JobObservation> = fields<JobObservation>({
  awaitingInput: flag,
  reader: optional(text()),
  listening: wellFormed(port),
});

/** The machine of a worker. */
export const farMachine: FarShape<FarMachine> = fields<FarMachine>({
  ...{ platform: text(), home: text(), cwd: text() },
});

const forwarded = fields<ForwardedPort>({ room: text(), port, hostPort: port });

/** A port that was opened or closed. */
export const forwardedPort: FarShape<ForwardedPort> = forwarded;

/** The rooms of a worker. */
export const roomStates: FarShape<readonly RoomState[]> = wellFormed(
  fields<RoomState>({
    room: text(),
    listening: listOf(fields({ port, command: orNull(text()) })),
    forwarded: listOf(forwarded),
  }),
);

/** The persistent shells of a worker. */
export const sessionStates: FarShape<readonly SessionState[]> = wellFormed(
  fields<SessionState>({ key: text(), cwd: orNull(text()), status: oneOf(['ready', 'busy', 'idle']) }),
);

/** The result of closing a persistent shell. */
export const closedSession: FarShape<ClosedSession | null> = orNull(
  fields<ClosedSession>({ survivors: processes }),
);

/** The disk space of a worker's logs. */
export const usage = fields<{ readonly spoolBytes: number }>({ spoolBytes: size });

/** Why changes cannot be tracked, or null. */
export const changesFault: FarShape<string | null> = orNull(text());

/** The kept changes of a worker. */
export const changesEntries: FarShape<readonly ChangesEntry[]> = wellFormed(
  fields<ChangesEntry>({
    ...{ id: text(), state: oneOf(changesStates), command: text(), folders: texts, endedAt: text() },
    ...{ owner: optional(text()), onTopOf: texts, bytes: size, asksUser: optional(flag) },
    counts: fields(counts),
  }),
);

const resultFields = {
  ...{ ...counts, id: text(), state: oneOf([...changesStates, 'gone'] as const), bytes: size },
  // Every file of a large workspace can be one; the frame limits them.
  conflicts: longTexts,
};

/** The result of a call about kept changes. */
export const changesResult: FarShape<ChangesResult> = fields<ChangesResult>({
  ...resultFields,
  changes: listOf(change),
});

/** Kept changes with their differences. */
export const shownChanges = fields({
  ...resultFields,
  changes: listOf(fields<ShownChange>({ ...changeFields, diff: optional(longText), note: optional(text()) })),
});

/** The capabilities of a machine. */
export const machineReport: FarShape<MachineReport> = fields<MachineReport>({
  bash: fields({ path: text(), version: text() }),
  ...{ path: text(), loginEnvironment: text(), withheldEnv: texts, folder: text(), processTable: text() },
  supervision: oneOf(supervisionLevels),
  sandbox: oneOf(sandboxNames),
  files: oneOf(['off', 'landlock', 'namespace']),
  workspaceBy: orNull(oneOf(['landlock', 'namespace'])),
  namespaceFault: orNull(fields({ kind: oneOf(['missing', 'forbidden']), reason: text(), fix: text() })),
  network: oneOf(['on', 'off', 'filtered']),
  exec: oneOf(['off', 'enforced']),
  ...{ execNote: optional(text()), landlock: text(), pty: flag, hidesOwnFiles: flag, gaps: texts },
});

const problems: readonly PlaceProblem[] = ['missing', 'not_a_directory', 'not_accessible'];
const usable = fields<{ readonly asked: string; readonly path: string }>({ asked: text(), path: text() });
const unusable = fields<{ readonly asked: string; readonly problem: PlaceProblem }>({
  asked: text(),
  problem: oneOf(problems),
});
const place: FarShape<Place> = (value) =>
  typeof value === 'object' && value !== null && 'problem' in value ? unusable(value) : usable(value);

const sessionFacts = fields<SessionFacts>({
  cwd: longText,
  aliases: table(longText),
  functions: table(longText),
  exportedFunctions: longTexts,
  variables: optional(table(longText)),
  attributes: table(longText),
  arrays: longTexts,
  options: texts,
  pathUnchanged: flag,
});

/** The answer to `inspect`. */
export const inspection = fields<{
  readonly facts: Facts;
  readonly fingerprint?: string | undefined;
}>({
  facts: fields<Facts>({
    // The near side adds it.
    machine: () => undefined,
    cwd: place,
    roots: listOf(place),
    workspace: optional(listOf(place)),
    home: text(),
    homes: optional(texts),
    ownFiles: optional(texts),
    programs: table(orNull(text())),
    existing: optional(texts),
    session: optional(sessionFacts),
  }),
  fingerprint: optional(text()),
});
