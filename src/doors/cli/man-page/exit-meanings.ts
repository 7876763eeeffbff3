import {
  exitCodes,
  failedExit,
  interruptedExit,
  invalidExit,
  problemExit,
  refusedExit,
  signalExitBase,
  timedOutExit,
} from '../../exit-codes.ts';

/** Meanings of the exit codes that do not come from a command, for the man page and `docs/reference/cli.md`. */
export const exitMeanings: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'Success.'],
  [
    `${problemExit}`,
    'nacre doctor found a problem, nacre audit verify found a changed record, nacre check --file found an unexpected verdict, or a step of nacre workflow failed.',
  ],
  [`${invalidExit}`, 'The workflow passed to nacre workflow is invalid.'],
  [`${timedOutExit}`, 'The command of nacre run timed out.'],
  [`${failedExit}`, 'nacre itself failed, or cannot do what was requested.'],
  [
    `${refusedExit}`,
    'Policy refused the command of nacre run or nacre check, or its file is not executable.',
  ],
  [`${exitCodes.program_not_found}`, 'The program for nacre run was not found.'],
  [
    `${signalExitBase} + N`,
    `Signal N killed the command, or interrupted nacre; ${interruptedExit} means Ctrl-C.`,
  ],
];
