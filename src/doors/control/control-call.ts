import type { NacreError } from '../../contract/failure.ts';
import type { CallerContext } from '../../engine/context/call-context.ts';
import type { ReadQuery } from '../../engine/reading/read-command.ts';
import type { WriteRequest } from '../../engine/typing/write-command.ts';

/** A call that another terminal can make to a running server. */
export type ControlCall =
  | { readonly method: 'list' | 'end_all' }
  | { readonly method: 'read'; readonly id: string; readonly query: Omit<ReadQuery, 'howToReadOn'> }
  | { readonly method: 'write'; readonly id: string; readonly input: WriteRequest }
  | { readonly method: 'stop'; readonly id: string }
  | { readonly method: 'link' | 'status' }
  | { readonly method: 'judge'; readonly programs: readonly string[]; readonly cwd: string | undefined }
  | { readonly method: 'approvals' | 'ports' }
  | { readonly method: 'open_port'; readonly port: number; readonly to: number; readonly room: string }
  | { readonly method: 'close_port'; readonly port: number }
  | { readonly method: 'answer'; readonly id: string; readonly answer: 'approved' | 'declined' };

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
