// Approval requests on disk, so that they stay pending when their server is restarted:
// 1. `ID.json` is the request, written once; `ID.answer` the answer, which only the first writer can create,
// 2. the requests of a dead server belong to every server of the same project, which lists and answers them,
// 3. removing `ID.json` consumes an approval: it succeeds in one process, once.
import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { toIdentity, toRoomKey } from '../../contract/session-key.ts';
import { randomHex } from '../../support/ids.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../../support/process-identity.ts';
import { readRegularFile } from '../../support/regular-file.ts';
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts';

/** The user's answer to a request. */
export type SavedAnswer = Extract<ApprovalAnswer, { readonly kind: 'approved' | 'declined' }>;

/** A request of a server that has ended. */
export interface OrphanRequest {
  readonly id: string;
  readonly request: ApprovalRequest;
  readonly deadline: number;
  readonly answer: SavedAnswer | null;
}

/** The folder of saved requests, as one server uses it. */
export interface SavedApprovals {
  /** Saves a request of this server; nothing is saved if no later call could be recognised as the same one. */
  save(id: string, request: ApprovalRequest, deadline: number): void;
  /** Saves an answer; false if there is one already. */
  answer(id: string, answer: SavedAnswer, deadline: number): boolean;
  /** Removes a request; false if another process has removed it. */
  take(id: string): boolean;
  /** The requests that dead servers of this project left. */
  orphans(): readonly OrphanRequest[];
  /** The request of a dead server that is equal to this one and comes from the same client. */
  findOrphan(request: ApprovalRequest): OrphanRequest | undefined;
}

interface RequestFile {
  readonly server: ProcessIdentity;
  readonly project: string;
  readonly key: string;
  readonly deadline: number;
  readonly request: Omit<ApprovalRequest, 'signal' | 'changes'>;
}

interface AnswerFile {
  readonly answer: SavedAnswer;
  readonly deadline: number;
}

// A server that was killed while it saved a request leaves a draft.
const draftMs = 60_000;

/** Opens the folder; it is created when the first request is saved. */
export function openSavedApprovals(folder: string, project: string): SavedApprovals {
  const pathOf = (id: string) => join(folder, `${id}.json`);
  const answerPathOf = (id: string) => join(folder, `${id}.answer`);
  const take = (id: string): boolean => {
    const isFirst = remove(pathOf(id));
    remove(answerPathOf(id));
    return isFirst;
  };
  const readOrphan = (id: string): readonly (OrphanRequest & { readonly key: string })[] => {
    const file = readJson<RequestFile>(pathOf(id));
    const given = readJson<AnswerFile>(answerPathOf(id));
    if (!file || file.project !== project || isAlive(file.server, folder) !== false) return [];
    const deadline = given?.deadline ?? file.deadline;
    if (deadline <= Date.now()) {
      take(id);
      return [];
    }
    const request = { ...file.request, signal: undefined };
    return [{ id, key: file.key, request, deadline, answer: given?.answer ?? null }];
  };
  const readOrphans = () => listIds(folder).flatMap(readOrphan);
  return {
    save(id, request, deadline) {
      const key = toKey(request, project);
      if (key === undefined) return;
      makeFolder(folder);
      const { signal: _signal, changes: _changes, ...kept } = request;
      const file: RequestFile = { server: ownIdentity(), project, key, deadline, request: kept };
      const draft = writeDraft(pathOf(id), file);
      renameSync(draft, pathOf(id));
    },
    answer(id, answer, deadline) {
      const draft = writeDraft(answerPathOf(id), { answer, deadline } satisfies AnswerFile);
      try {
        linkSync(draft, answerPathOf(id));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw error;
      } finally {
        remove(draft);
      }
    },
    take,
    orphans: readOrphans,
    findOrphan(request) {
      const key = toKey(request, project);
      return key === undefined ? undefined : readOrphans().find((one) => one.key === key);
    },
  };
}

/**
 * Everything that must be equal for an approval to be valid in a later process: the client, all details that were
 * shown, and the reason. The owner's id is new in every process, also in the key of a persistent shell. Changes that a
 * command has made are not saved: they differ each time it runs.
 */
function toKey(request: ApprovalRequest, project: string): string | undefined {
  const { asked, caller, owner, connection, decision, changes } = request;
  if (owner === undefined || changes !== undefined) return undefined;
  const room = `${toRoomKey({ owner, connection })}/`;
  const shell = asked.into?.startsWith(room) ? asked.into.slice(room.length) : undefined;
  const into = shell === undefined ? { id: asked.into } : { shell };
  const client = [toIdentity({ caller, owner }, project), caller.door, caller.client];
  const parts = [client, { ...asked, into }, decision.rule, decision.reason];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function listIds(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder);
    for (const name of names) if (name.endsWith('.draft')) removeOldDraft(join(folder, name));
    return names.flatMap((name) => /^(apr_\w+)\.json$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}

function removeOldDraft(path: string): void {
  const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (Date.now() - mtimeMs > draftMs) rmSync(path, { force: true });
}

// A file appears with all of its content or not at all, even if the machine loses power.
function writeDraft(path: string, content: unknown): string {
  const draft = `${path}.${randomHex(4)}.draft`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, JSON.stringify(content));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return draft;
}

function readJson<Content>(path: string): Content | undefined {
  try {
    return JSON.parse(readRegularFile(path)) as Content;
  } catch {
    return undefined;
  }
}

function remove(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
