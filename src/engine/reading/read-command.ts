import { cancelled, NacreError } from '../../contract/failure.ts';
import type { Cursor, Stream } from '../../contract/job.ts';
import type { ScreenView } from '../../contract/screen.ts';
import { checkPattern } from '../../output/matcher.ts';
import type { KeptCommand } from '../../sessions/command-registry.ts';
import { type Asker, type CommandView, toViewOf } from '../commands/commands.ts';
import type { EngineParts } from '../run.ts';
import { findPrompt } from './find-prompt.ts';
import { type ReadText, readText } from './read-text.ts';
import type { TextQuery } from './text-query.ts';
import { awaitNews, type News } from './wait-for-output.ts';

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

/** Waits as long as the query says and tells what the reader has not seen yet. A query that fails consumes nothing. */
export async function read(
  parts: EngineParts,
  idOrName: string,
  query: ReadQuery,
  asker: Asker,
): Promise<Reading> {
  const { book } = parts.sessions;
  const command = await checkReading(parts, idOrName, query, asker);
  const reader = asker.reader ?? asker.owner;
  const source = { backend: parts.backend, matcher: parts.matcher, id: command.id };
  const from = query.cursor ?? book.position(command.id, reader, query.stream);
  const news = await awaitNews(source, { ...query, from }, asker.signal);
  // What is told to nobody has been seen by nobody.
  if (asker.signal?.aborted) throw cancelledReading();
  // First the state: of a command that has ended by then, all that it wrote is in the log.
  const state = await parts.backend.wait(command.id, 0);
  const { end, final } = await parts.backend.read(command.id, from, { waitMs: 0, maxBytes: 0 });
  const screen = (query.wantsScreen && (await command.screen?.view())) || null;
  const textFrom = query.keep === 'end' ? (query.cursor ?? 0) : from;
  // Who looks at the screen has seen what led to it.
  const text = screen
    ? { stdout: '', stderr: '', next: end, leftOutFrom: null, isCut: false }
    : await readText(source, { ...query, from: textFrom, end, final });
  book.advance(command.id, reader, { from, next: text.next, stream: screen ? undefined : query.stream });
  const prompt = await findPrompt(source);
  return {
    ...toViewOf(parts, command, reader, state),
    ...text,
    screen,
    prompt,
    news,
    from,
  };
}

/** Throws what keeps a query from being answered, before anything is done on account of it. */
export async function checkReading(
  { backend, sessions }: EngineParts,
  idOrName: string,
  { cursor, waitFor, filter, wantsScreen }: ReadQuery,
  { owner }: Asker,
): Promise<KeptCommand> {
  checkPattern('wait_for', waitFor);
  checkPattern('filter', filter);
  const command = sessions.book.find(owner, idOrName);
  if (wantsScreen && !command.screen) throw noScreen(command.id);
  if (cursor !== undefined) await backend.read(command.id, cursor, { waitMs: 0, maxBytes: 0 });
  return command;
}

function cancelledReading(): NacreError {
  return cancelled('The call was cancelled; what it would have told is still unread.');
}

function noScreen(id: string): NacreError {
  return new NacreError('invalid_request', `${id} has no terminal, so there is no screen to see.`, {
    hint: 'Read its output, or start it with pty.',
  });
}
