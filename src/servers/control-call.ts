import type { PageRole } from '../contract/console.ts';
import type { NacreError } from '../contract/failure.ts';
import type { Cursor, ReadResult, Stream } from '../contract/job.ts';
import type { BytesQuery } from '../engine/commands/commands.ts';
import type { CallerContext } from '../engine/context/call-context.ts';
import type { ReadQuery } from '../engine/reading/read-command.ts';
import type { WriteRequest } from '../engine/typing/write-command.ts';

/** A call that another terminal can make to a running server. */
export type ControlCall =
  | { readonly method: 'list' | 'end_all' }
  | { readonly method: 'read'; readonly id: string; readonly query: Omit<ReadQuery, 'howToReadOn'> }
  | { readonly method: 'bytes'; readonly id: string; readonly from: Cursor; readonly query: BytesQuery }
  | {
      readonly method: 'write';
      readonly id: string;
      readonly input: WriteRequest;
      readonly by?: string | undefined;
    }
  | { readonly method: 'stop'; readonly id: string; readonly by?: string | undefined }
  | { readonly method: 'status' }
  | { readonly method: 'link'; readonly role?: PageRole | undefined; readonly name?: string | undefined }
  | { readonly method: 'judge'; readonly programs: readonly string[]; readonly cwd: string | undefined }
  | { readonly method: 'ports' }
  /** `attendMs`: a person looks at the requests for that long, so calls that ask may wait for the answer. */
  | { readonly method: 'approvals'; readonly attendMs?: number | undefined }
  | { readonly method: 'open_port'; readonly port: number; readonly to: number; readonly room: string }
  | { readonly method: 'close_port'; readonly port: number }
  | ({
      readonly method: 'answer';
      readonly id: string;
      readonly answer: 'approved' | 'declined';
    } & GivenAnswer);

/** Fields of an answer that a page sends and a terminal may leave out. */
export interface GivenAnswer {
  /** Names the page, for the record. */
  readonly by?: string | undefined;
  /** `PendingApproval.digest` of the request that was shown. */
  readonly digest?: string | undefined;
  /** A sentence for the agent. */
  readonly note?: string | undefined;
}

/** Output in the reply to `bytes`. */
export interface SentBytes extends Omit<ReadResult, 'chunks'> {
  readonly chunks: readonly { readonly stream: Stream; readonly data: string }[];
}

/** A call with the secret from the `.secret` file next to the socket. */
export type ControlRequest = ControlCall & { readonly secret: string };

/** The reply of a server: one JSON document on one line. */
export type ControlReply =
  | { readonly result: unknown }
  | { readonly error: Pick<NacreError, 'code' | 'message' | 'hint'> };

/** The local user as a caller; the owner `*` sees every command of the server. */
export const localUser: CallerContext = { caller: { door: 'cli', client: 'terminal' }, owner: '*' };

/** Longest line in either direction. */
export const maxLineBytes = 16 * 1024 * 1024;
