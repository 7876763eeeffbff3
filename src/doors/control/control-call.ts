import type { NacreError } from '../../contract/failure.ts';
import type { Asker } from '../../engine/commands/commands.ts';
import type { ReadQuery } from '../../engine/reading/read-command.ts';
import type { CommandInput } from '../../engine/typing/write-command.ts';

/** What another terminal can ask of a running server. */
export type ControlCall =
  | { readonly method: 'list' | 'end_all' }
  | { readonly method: 'read'; readonly id: string; readonly query: Omit<ReadQuery, 'howToReadOn'> }
  | { readonly method: 'write'; readonly id: string; readonly input: CommandInput }
  | { readonly method: 'stop'; readonly id: string }
  | { readonly method: 'approvals' }
  | { readonly method: 'answer'; readonly id: string; readonly answer: 'approved' | 'declined' };

/** A call with what proves that its sender may read the server's files. */
export type ControlRequest = ControlCall & { readonly secret: string };

/** What a server answers. */
export type ControlAnswer =
  | { readonly result: unknown }
  | { readonly error: Pick<NacreError, 'code' | 'message' | 'hint'> };

/** Who asks from another terminal: the person whose server it is, who may see everything. */
export const person: Asker = { caller: { door: 'cli', client: 'terminal' }, owner: '*' };

/** One JSON document a line, as long as a reply can be. */
export const longestLine = 16 * 1024 * 1024;
