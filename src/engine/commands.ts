// What can be done with a command that goes on after its call: read it, write to it, stop it, list it. Every call names
// its owner; another's command is as unknown as one that never was.
import type { Backend, StopOptions } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { Decision } from '../contract/decision.ts';
import { NacreError } from '../contract/failure.ts';
import type { Cursor, JobLook, JobState, ReadResult, Stream, TerminalSize } from '../contract/job.ts';
import type { ScreenView } from '../contract/screen.ts';
import { checkPattern } from '../output/matcher.ts';
import type { KeptCommand } from '../sessions/command-book.ts';
import { obey } from './admit.ts';
import type { AskPerson } from './approval.ts';
import { awaitNews, type News } from './await-news.ts';
import { findPrompt } from './find-prompt.ts';
import { hideSecrets, toSecret } from './hide-secrets.ts';
import { type ReadText, readText, type TextQuery } from './read-text.ts';
import type { EngineParts } from './run.ts';
import { joinStrokes, type KeyStroke, toKeyStrokes } from './to-keys.ts';

/** Who asks about a command. */
export interface Asker {
  readonly caller: Caller;
  readonly owner: string;
  /** Whose progress in reading counts; the owner's own when absent. */
  readonly reader?: string | undefined;
  /** Puts a question to the person behind the caller, where that can be done. */
  readonly askPerson?: AskPerson | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A command as it is now. */
export interface CommandView extends Pick<KeptCommand, 'id' | 'name' | 'command' | 'cwd'> {
  readonly state: JobState;
  /** Bytes that the reader has not seen yet. */
  readonly unreadBytes: number;
}

/** A command in a list. */
export interface ListedCommand extends CommandView {
  readonly look: JobLook;
  readonly hasScreen: boolean;
}

/** What is wanted of a command's output. */
export interface ReadQuery extends Pick<TextQuery, 'keep' | 'view' | 'maxChars' | 'howToReadOn'> {
  /** Where to begin; what the reader has not seen yet when absent. */
  readonly cursor?: Cursor | undefined;
  readonly waitMs: number;
  readonly waitFor?: string | undefined;
  readonly idleMs?: number | undefined;
  readonly filter?: string | undefined;
  readonly stream?: Stream | undefined;
  /** Comes back as soon as the command waits for input. */
  readonly untilInput?: boolean | undefined;
  /** Gives what the terminal shows in place of what was printed. */
  readonly wantsScreen?: boolean | undefined;
}

/** Some of a command's output, and the command as it was then. */
export interface Reading extends CommandView, ReadText {
  /** Why the call came back. */
  readonly news: News;
  readonly from: Cursor;
  /** The line on which it waits for input; null when it does not, or when the kernel does not tell. */
  readonly prompt: string | null;
  /** What its terminal shows, where that was asked for. */
  readonly screen: ScreenView | null;
}

/** What is to be written to a command: the new size first, then the text, the keys and the end. */
export interface CommandInput {
  readonly text: string;
  /** Keys by name, such as `enter` and `ctrl-c`. */
  readonly keys?: readonly string[] | undefined;
  readonly eof: boolean;
  readonly resize?: TerminalSize | undefined;
  /** Keeps the text out of the audit log and of what is read later. */
  readonly secret: boolean;
}

/** Waits as long as the query says and tells what the reader has not seen yet. A query that fails consumes nothing. */
export async function read(
  parts: EngineParts,
  idOrName: string,
  query: ReadQuery,
  asker: Asker,
): Promise<Reading> {
  checkPattern('wait_for', query.waitFor);
  checkPattern('filter', query.filter);
  const { book } = parts.sessions;
  const command = book.find(asker.owner, idOrName);
  const reader = asker.reader ?? asker.owner;
  const source = { backend: parts.backend, matcher: parts.matcher, id: command.id };
  const from = query.cursor ?? book.position(command.id, reader);
  const news = await awaitNews(source, { ...query, from }, asker.signal);
  // First the state: of a command that has ended by then, all that it wrote is in the log.
  const state = await parts.backend.wait(command.id, 0);
  const { end, final } = await parts.backend.read(command.id, from, { waitMs: 0, maxBytes: 0 });
  const screen = query.wantsScreen ? await viewScreen(command) : null;
  const textFrom = query.keep === 'end' ? (query.cursor ?? 0) : from;
  // Who looks at the screen has seen what led to it.
  const text = screen
    ? { stdout: '', stderr: '', next: end, leftOutFrom: null }
    : await readText(source, { ...query, from: textFrom, end, final });
  book.advance(command.id, reader, from, text.next);
  const prompt = await findPrompt(source);
  const hide = (shown: string) => hideSecrets(shown, command.secrets);
  return {
    ...toViewOf(parts, command, reader, state),
    ...text,
    stdout: hide(text.stdout),
    stderr: hide(text.stderr),
    screen: screen && { ...screen, text: hide(screen.text) },
    prompt: prompt === null ? null : hide(prompt),
    news,
    from,
  };
}

async function viewScreen({ id, screen }: KeptCommand): Promise<ScreenView> {
  if (screen) return screen.view();
  throw new NacreError('invalid_request', `${id} has no terminal, so there is no screen to see.`, {
    hint: 'Read its output, or start it with pty.',
  });
}

/** How much to read at once, and how long to wait for something to read. */
export interface BytesQuery {
  readonly waitMs: number;
  readonly maxBytes: number;
}

/** Tells bytes as they came, for readers who keep their own position. */
export function readBytes(
  { backend, sessions }: EngineParts,
  idOrName: string,
  from: Cursor,
  query: BytesQuery,
  { owner }: Asker,
): Promise<ReadResult> {
  return backend.read(sessions.book.find(owner, idOrName).id, from, query);
}

/** Looks at one command. */
export async function look(
  parts: EngineParts,
  idOrName: string,
  { owner, reader }: Asker,
): Promise<ListedCommand> {
  const command = parts.sessions.book.find(owner, idOrName);
  const view = await toView(parts, command, reader ?? owner);
  const hasScreen = command.screen !== undefined;
  return { ...view, look: await parts.backend.look(command.id), hasScreen };
}

/** Writes to a command. */
export async function write(
  { backend, sessions, audit, inbox }: EngineParts,
  idOrName: string,
  input: CommandInput,
  { owner, caller, askPerson = inbox?.ask, signal }: Asker,
): Promise<void> {
  const command = sessions.book.find(owner, idOrName);
  const { id, cwd, inputJudge, screen, secrets } = command;
  const { text, keys = [], eof, resize, secret } = input;
  const mode = { hasTerminal: screen !== undefined, applicationKeys: screen?.applicationKeys() ?? false };
  const strokes = toKeyStrokes(keys, mode);
  const typed = keys.includes('enter') ? `${text}\n` : text;
  if (inputJudge && typed !== '') {
    const decision = inputJudge.judge(typed);
    const isSecret = secret || secrets.size > 0;
    audit.record({
      kind: 'decided',
      id,
      caller,
      cwd,
      decision: isSecret ? withoutWords(decision) : decision,
    });
    const asked = {
      command: { kind: 'shell', script: typed },
      cwd,
      env: {},
      input: null,
      into: id,
      sandbox: null,
    } as const;
    const approved = await obey({ decision, asked, id, caller, owner, signal }, askPerson);
    if (approved) audit.record({ kind: 'approved', id, caller, by: approved.by });
  }
  if (inputJudge?.onlyListed) checkKeys(keys);
  audit.record({ kind: 'input', id, caller, text, keys, eof, secret });
  const hidden = secret ? toSecret(text) : undefined;
  if (hidden !== undefined) secrets.add(hidden);
  if (resize) {
    await backend.resize(id, resize);
    screen?.resize(resize);
  }
  // Pressing Enter sends a carriage return; a terminal makes a line end of it.
  const first = { does: 'write', text: screen ? text.replace(/\r?\n/g, '\r') : text } as const;
  const last = eof ? [{ does: 'end' } as const] : [];
  for (const stroke of joinStrokes([first, ...strokes, ...last])) await press(backend, id, stroke);
  inputJudge?.typed(typed);
}

// All that was typed is judged together: its words stand in what is said of it.
function withoutWords(decision: Decision): Decision {
  return { ...decision, reason: 'What was typed is secret.', programs: [] };
}

// Whatever else a key does in a shell, it does to text that was never judged.
function checkKeys(keys: readonly string[]): void {
  const other = keys.find((key) => !['enter', 'ctrl-c', 'ctrl-d'].includes(key));
  if (other === undefined) return;
  throw new NacreError(
    'policy_denied',
    `The key ${other} is not allowed in a shell while only listed programs are.`,
    { hint: 'Type complete commands; ctrl-c and ctrl-d are allowed.' },
  );
}

function press(backend: Backend, id: string, stroke: KeyStroke): Promise<void> {
  if (stroke.does === 'interrupt') return backend.interrupt(id);
  if (stroke.does === 'end') return backend.write(id, new Uint8Array(), { eof: true });
  return backend.write(id, Buffer.from(stroke.text));
}

/** Ends a command with its whole tree; one that has ended stays as it is. */
export async function stop(
  parts: EngineParts,
  idOrName: string,
  options: StopOptions,
  { owner, caller, reader }: Asker,
): Promise<CommandView> {
  const { backend, sessions, audit } = parts;
  const command = sessions.book.find(owner, idOrName);
  const { end } = await backend.wait(command.id, 0);
  // Ending is never kept from anybody for want of a record.
  if (!end) audit.tryRecord({ kind: 'stop', id: command.id, caller, signal: options.signal });
  await backend.stop(command.id, options);
  return toView(parts, command, reader ?? owner);
}

/** Forgets a command that has ended, and its output. */
export async function forget(
  { backend, sessions }: EngineParts,
  idOrName: string,
  { owner }: Asker,
): Promise<void> {
  const { id } = sessions.book.find(owner, idOrName);
  const { end } = await backend.wait(id, 0);
  if (!end) {
    throw new NacreError('invalid_request', `${id} is still running.`, { hint: 'Stop it first.' });
  }
  sessions.forget(id);
}

/** The owner's commands, oldest first. */
export async function list(parts: EngineParts, asker: Asker): Promise<readonly ListedCommand[]> {
  const views = await Promise.allSettled(
    parts.sessions.book.list(asker.owner).map(({ id }) => look(parts, id, asker)),
  );
  // What was forgotten just now is not there.
  return views.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

async function toView(parts: EngineParts, kept: KeptCommand, reader: string): Promise<CommandView> {
  return toViewOf(parts, kept, reader, await parts.backend.wait(kept.id, 0));
}

function toViewOf(parts: EngineParts, kept: KeptCommand, reader: string, state: JobState): CommandView {
  const { id, name, command, cwd } = kept;
  const position = parts.sessions.book.position(id, reader);
  const unreadBytes = Math.max(0, state.stdoutBytes + state.stderrBytes - position);
  return { id, name, command, cwd, state, unreadBytes };
}
