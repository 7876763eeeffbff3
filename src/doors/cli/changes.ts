// `nacre changes`, `apply`, `discard` and `undo`: files that commands have changed, for the local user.
import type { ChangesEntry, ChangesResult } from '../../contract/changes.ts';
import { NacreError } from '../../contract/failure.ts';
import type { Changes } from '../../engine/changes/changes.ts';
import { toOneLine } from '../../support/escape-controls.ts';
import { toChangesReply } from '../../tools/common/describe-changes.ts';
import type { Arguments, DisplayAccess, EngineAccess, FlagAccess, IoAccess } from '../door.ts';
import { exitCodes, failedExit, problemExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { parseSince } from './parse-since.ts';
import { showLimits, toDiffText } from './to-diff-text.ts';

interface Flags {
  readonly json: boolean;
}

interface ForceFlags extends Flags {
  readonly force: boolean;
}

type Deps<F extends Flags> = FlagAccess<F> & IoAccess & Arguments & EngineAccess & DisplayAccess;

const context = { caller: { door: 'cli', client: 'nacre changes' } } as const;

/** `nacre changes`: lists kept changes, or shows those of one command. */
export function changesDoor(deps: Deps<Flags>): Promise<number> {
  return run(deps, async (changes) => {
    const [id, ...paths] = deps.words;
    const { json } = deps.flags;
    if (id === undefined) {
      const entries = await changes.list(context);
      return { text: json ? toJson({ changes: entries }) : toListText(entries, deps) };
    }
    const shown = await changes.show({ id, paths: toPaths(paths) }, showLimits, context);
    return { text: json ? toJson(shown) : toDiffText(shown, deps.display) };
  });
}

/** `nacre apply`. */
export function applyDoor(deps: Deps<ForceFlags>): Promise<number> {
  return act(deps, (changes, id, paths) => changes.apply({ id, paths, force: deps.flags.force }, context));
}

/** `nacre discard`. */
export function discardDoor(deps: Deps<Flags>): Promise<number> {
  return act(deps, (changes, id, paths) => changes.discard({ id, paths }, context));
}

/** `nacre undo`. */
export function undoDoor(deps: Deps<ForceFlags & { readonly to?: string | undefined }>): Promise<number> {
  const { to, force } = deps.flags;
  if (to === undefined) return act(deps, (changes, id, paths) => changes.undo({ id, paths, force }, context));
  return run(deps, async (changes) => {
    const results = await changes.undoTo(to.startsWith('cmd_') ? to : toTime(to), force, context);
    const text = results.length === 0 ? 'nothing to undo\n' : results.map(toSentence).join('');
    return toPrinted(deps.flags.json ? toJson({ results: results.map(toChangesReply) }) : text, results);
  });
}

// No id has the form of a time.
function toTime(text: string): string {
  try {
    return parseSince(text);
  } catch {
    return text;
  }
}

function act(
  deps: Deps<Flags>,
  call: (changes: Changes, id: string, paths: readonly string[] | undefined) => Promise<ChangesResult>,
): Promise<number> {
  return run(deps, async (changes) => {
    const [id, ...paths] = deps.words;
    if (id === undefined) throw noId();
    const result = await call(changes, id, toPaths(paths));
    return toPrinted(deps.flags.json ? toJson(toChangesReply(result)) : toSentence(result), [result]);
  });
}

/** The text to print, and the exit code. */
interface Printed {
  readonly text: string;
  readonly exitCode?: number;
}

// The exit code shows scripts that some files were not replaced.
function toPrinted(text: string, results: readonly ChangesResult[]): Printed {
  return results.some(({ conflicts }) => conflicts.length > 0) ? { text, exitCode: problemExit } : { text };
}

function toPaths(paths: readonly string[]): readonly string[] | undefined {
  return paths.length === 0 ? undefined : paths;
}

async function run(deps: Deps<Flags>, call: (changes: Changes) => Promise<Printed>): Promise<number> {
  const { io, flags } = deps;
  try {
    const { text, exitCode = 0 } = await call((await deps.engine()).changes);
    await print(io.stdout, text, io.interrupted);
    return exitCode;
  } catch (error) {
    await (flags.json ? print(io.stdout, toErrorJson(error)) : print(io.stderr, toErrorText(error)));
    return error instanceof NacreError ? exitCodes[error.code] : failedExit;
  } finally {
    await deps.close();
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function toListText(entries: readonly ChangesEntry[], { display: { paint } }: DisplayAccess): string {
  if (entries.length === 0) return 'no changes are kept\n';
  const lines = entries.map(({ id, state, endedAt, counts, command }) => {
    const { created, changed, deleted, mode } = counts;
    const numbers = `+${created} ~${changed} -${deleted}${mode > 0 ? ` m${mode}` : ''}`;
    return `${paint.name(id)}  ${state.padEnd(7)}  ${endedAt.slice(0, 19)}Z  ${numbers}  ${toOneLine(command)}`;
  });
  return `${lines.join('\n')}\n`;
}

function toSentence({ id, state, created, changed, deleted, mode, conflicts }: ChangesResult): string {
  const count = created + changed + deleted + mode;
  const left = conflicts.map((path) => `  not replaced, because it was changed since: ${toOneLine(path)}\n`);
  const hint = left.length === 0 ? '' : '  repeat the command with --force to replace these files too\n';
  return `${id}: ${count} changed ${count === 1 ? 'path' : 'paths'}, now ${state}\n${left.join('')}${hint}`;
}

function noId(): NacreError {
  return new NacreError('invalid_request', 'No command id was given.', { hint: 'nacre changes lists them.' });
}
