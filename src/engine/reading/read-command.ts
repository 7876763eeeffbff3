import type { Backend } from '../../contract/backend.ts';
import { cancelled, NacreError } from '../../contract/failure.ts';
import type { Cursor, JobEnd, JobState, Stream } from '../../contract/job.ts';
import type { ScreenView } from '../../contract/screen.ts';
import { checkPattern } from '../../output/matcher.ts';
import { sanitise } from '../../output/sanitise.ts';
import type { RegisteredCommand } from '../../sessions/command-registry.ts';
import { describeDeniedPrograms } from '../../support/describe-exec.ts';
import { describeProtected } from '../../support/describe-protected.ts';
import { goneNotice } from '../../support/gone-notice.ts';
import { logOf, readRange } from '../../support/tail.ts';
import { type CommandView, toViewAt } from '../commands/commands.ts';
import type { CallerContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { networkHint } from '../network/network-hint.ts';
import { type ReadText, readText } from './read-text.ts';
import type { TextQuery, TextSource } from './text-query.ts';
import { type WakeReason, waitForOutput } from './wait-for-output.ts';

/** The events to wait for, and the part of the output to return. */
export interface ReadQuery
  extends Pick<TextQuery, 'keep' | 'view' | 'maxChars' | 'maxLines' | 'howToReadOn'> {
  /** Returns whether the texts fit into a reply; if not, less is read. */
  readonly fits?: ((stdout: string, stderr: string) => boolean) | undefined;
  /** Cursor to read from; the caller's read position by default. */
  readonly cursor?: Cursor | undefined;
  readonly waitMs: number;
  readonly waitFor?: string | undefined;
  readonly idleMs?: number | undefined;
  readonly filter?: string | undefined;
  readonly stream?: Stream | undefined;
  readonly untilInput?: boolean | undefined;
  /** Returns `screen` in place of the output. */
  readonly wantsScreen?: boolean | undefined;
}

/** Result of `read`: output, and the command as it was then. */
export interface Reading extends CommandView, ReadText {
  readonly wakeReason: WakeReason;
  readonly from: Cursor;
  /** The line on which the command waits for input; null if it does not, or if /proc does not show it. */
  readonly prompt: string | null;
  /** Present with `wantsScreen`. */
  readonly screen: ScreenView | null;
  /** The next step if the kernel stopped a program, or if the command failed because it had no network. */
  readonly hint: string | null;
}

/** Waits as `query` says and returns output after the caller's read position, which advances only on success. */
export async function read(
  deps: EngineDeps,
  idOrName: string,
  query: ReadQuery,
  context: CallerContext,
): Promise<Reading> {
  const { backend, matcher } = deps;
  const { registry } = deps.sessions;
  const command = await checkReading(deps, idOrName, query, context);
  const { id } = command;
  const reader = context.reader ?? context.owner;
  const position = () => query.cursor ?? registry.position(id, reader, query.stream);
  const wait = { ...query, from: position() };
  const wakeReason = await waitForOutput({ backend, matcher, id }, wait, context.signal);
  // Calls read in turn, so that only one of two concurrent calls gets the text.
  return deps.sessions.readQueue.inTurn(`${id} ${reader}`, {}, () =>
    readNow(deps, command, { ...query, from: position() }, { reader, signal: context.signal, wakeReason }),
  );
}

interface ReadCall {
  readonly reader: string;
  readonly signal: AbortSignal | undefined;
  readonly wakeReason: WakeReason;
}

async function readNow(
  deps: EngineDeps,
  command: RegisteredCommand,
  query: ReadQuery & { readonly from: Cursor },
  { reader, signal, wakeReason }: ReadCall,
): Promise<Reading> {
  const { backend, matcher } = deps;
  const { registry } = deps.sessions;
  const { id } = command;
  const { from } = query;
  if (signal?.aborted) throw cancelledReading();
  // `wait` before `read`: the log of a command that has ended by then is complete.
  const state = await backend.wait(id, 0);
  const { end, final, goneBefore = 0 } = await backend.read(id, from, { waitMs: 0, maxBytes: 0 });
  const screen = (query.wantsScreen && (await command.screen?.view())) || null;
  // One stream may have been read further than the other, with `stream`.
  const positionOf = (stream: Stream) => registry.position(id, reader, stream);
  const isNewOnly = query.cursor === undefined && query.keep !== 'end';
  const skip = isNewOnly ? { stdout: positionOf('stdout'), stderr: positionOf('stderr') } : undefined;
  const textFrom = Math.max(goneBefore, query.keep === 'end' ? (query.cursor ?? 0) : from);
  // The screen shows the result of all output so far, so that counts as read.
  const found = screen
    ? { stdout: '', stderr: '', next: end, leftOutFrom: null, leftOutBytes: null, isCut: false }
    : await readFitting(
        { read: logOf(backend, id), matcher },
        { ...query, skip, from: textFrom, end, final },
        query.fits,
      );
  const text = from < goneBefore ? withNotice(found, goneBefore - from, query.stream) : found;
  registry.advance(id, reader, { from, next: text.next, stream: screen ? undefined : query.stream });
  const prompt = await findPrompt(backend, id);
  const hint = await findHint(backend, command, state, end);
  return { ...toViewAt(deps, command, reader, state), ...text, screen, prompt, hint, wakeReason, from };
}

const shrinkFactor = 0.8;
// A reply always has room for this many characters.
const minFitChars = 100;

/** Reads with a smaller limit until the text fits. */
async function readFitting(source: TextSource, query: TextQuery, fits: ReadQuery['fits']): Promise<ReadText> {
  for (let { maxChars } = query; ; maxChars = Math.floor(maxChars * shrinkFactor)) {
    const text = await readText(source, { ...query, maxChars });
    if (!fits || maxChars < minFitChars || fits(text.stdout, text.stderr)) return text;
  }
}

// This is reported once, because the read position is then after the removed output.
function withNotice(text: ReadText, bytes: number, stream: Stream = 'stdout'): ReadText {
  return { ...text, [stream]: `${goneNotice(bytes)}${text[stream]}` };
}

const hintBytes = 16_384;

async function findHint(
  backend: Backend,
  command: RegisteredCommand,
  state: JobState,
  size: Cursor,
): Promise<string | null> {
  const { end } = state;
  if (!end) return null;
  const stopped = describeDeniedPrograms(end.deniedPrograms ?? [], end.session !== undefined);
  const network = await findNetworkHint(backend, command, { ...state, end }, size);
  const settings = describeProtected(end.protectedUse);
  const hints = [...stopped, ...settings, ...(network === undefined ? [] : [network])];
  return hints.length > 0 ? hints.join(' ') : null;
}

// Reads the end of the log again, because an earlier call may have returned the message.
async function findNetworkHint(
  backend: Backend,
  { id, screen }: RegisteredCommand,
  { enforcement, end }: JobState & { readonly end: JobEnd },
  size: Cursor,
): Promise<string | undefined> {
  if (enforcement === null || enforcement.network === 'on') return undefined;
  const chunks = await readRange(logOf(backend, id), Math.max(0, size - hintBytes), size);
  const textOf = (stream: Stream) =>
    sanitise(Buffer.concat(chunks.filter((chunk) => chunk.stream === stream).map(({ data }) => data)));
  const stdout = textOf('stdout');
  // A command at a terminal has its error messages on stdout.
  const stderr = screen ? stdout : textOf('stderr');
  return networkHint({ ...end, enforcement, stdout, stderr }, []);
}

/** Throws if `read` would reject the query, so that a caller can check it before an action such as a write. */
export async function checkReading(
  { backend, sessions }: EngineDeps,
  idOrName: string,
  { cursor, waitFor, filter, wantsScreen }: ReadQuery,
  { owner }: CallerContext,
): Promise<RegisteredCommand> {
  checkPattern('wait_for', waitFor);
  checkPattern('filter', filter);
  const command = sessions.registry.find(owner, idOrName);
  if (wantsScreen && !command.screen) throw noScreen(command.id);
  if (cursor !== undefined) await backend.read(command.id, cursor, { waitMs: 0, maxBytes: 0 });
  return command;
}

const promptBytes = 4_096;
const promptChars = 500;

/** The last line of the stream that was printed to last, if the command waits for input. */
async function findPrompt(backend: Backend, id: string): Promise<string | null> {
  if (!(await backend.awaitsInput(id))) return null;
  const { end } = await backend.read(id, 0, { waitMs: 0, maxBytes: 0 });
  const from = Math.max(0, end - promptBytes);
  const { chunks } = await backend.read(id, from, { waitMs: 0, maxBytes: promptBytes });
  const last = chunks.at(-1)?.stream;
  const bytes = chunks.filter(({ stream }) => stream === last).map(({ data }) => data);
  return lastLine(sanitise(Buffer.concat(bytes))).slice(-promptChars);
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function cancelledReading(): NacreError {
  return cancelled('The call was cancelled; its output is still unread.');
}

function noScreen(id: string): NacreError {
  return new NacreError('invalid_request', `${id} has no terminal, so there is no screen to see.`, {
    hint: 'Read its output, or start it with pty.',
  });
}
