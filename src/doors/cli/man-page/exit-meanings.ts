import {
  exitCodes,
  failedExit,
  faultyExit,
  interruptedExit,
  invalidExit,
  refusedExit,
  signalledExit,
  timedOutExit,
} from '../../exit-codes.ts';

/** What exit codes mean that are not those of a command itself, in the words of the man page and of the reference. */
export const exitMeanings: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'All is well.'],
  [
    `${faultyExit}`,
    'nacre doctor found a problem, nacre audit verify a record that is not as it was written, nacre check --file a verdict that was not expected, or a step of nacre workflow failed.',
  ],
  [`${invalidExit}`, 'nacre workflow was given what cannot be run.'],
  [`${timedOutExit}`, 'The command of nacre run timed out.'],
  [`${failedExit}`, 'nacre itself failed, or cannot do what it was asked.'],
  [`${refusedExit}`, 'The command of nacre run or nacre check may not run, or its file is no program.'],
  [`${exitCodes.program_not_found}`, 'The program that nacre run was to run does not exist.'],
  [
    `${signalledExit} + N`,
    `Signal N ended the command, or nacre in the middle of its work; ${interruptedExit} is Ctrl-C.`,
  ],
];
