import { NacreError } from '../contract/failure.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { InputJudge } from '../sessions/command-book.ts';
import type { RunContext } from './run.ts';

/** Judges what is typed into a command that reads commands. */
export function createInputJudge(
  _request: Pick<CommandRequest, 'command' | 'env'>,
  _context: Pick<RunContext, 'rules'>,
): InputJudge {
  return () => {
    throw new NacreError(
      'policy_denied',
      'Input to a shell is not allowed while only listed programs may run.',
      {
        hint: 'Run each command with a call of its own.',
      },
    );
  };
}
