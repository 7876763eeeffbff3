import type { Outcome } from '../../contract/outcome.ts';
import type { Restoration } from '../../contract/session.ts';
import { nameProcesses } from '../name-processes.ts';

/** What a reader of an outcome should know beside its output, in sentences. */
export function notesOn(outcome: Outcome): readonly string[] {
  const { id, session, leftRunning, survivors, deniedHosts, withheldEnv, exitCode, warnings } = outcome;
  const names = (processes: Outcome['leftRunning']) => nameProcesses(processes).join(', ');
  return [
    ...(session?.restored ? [describeRestored(session.restored)] : []),
    ...(session?.shellEnded ? [describeEnded(outcome, session.cwd)] : []),
    ...(session?.ran === false ? [notRun] : []),
    ...(leftRunning.length > 0 ? [describeLeft(names(leftRunning), id)] : []),
    ...(survivors.length > 0 ? [`Could not be ended: ${names(survivors)}.`] : []),
    ...(deniedHosts.length > 0 ? [`Hosts that were refused: ${deniedHosts.join(', ')}.`] : []),
    ...(exitCode !== 0 && withheldEnv.length > 0 ? [`Variables held back: ${withheldEnv.join(', ')}.`] : []),
    ...warnings,
  ];
}

function describeLeft(names: string, id: string): string {
  return `Still running in this session: ${names}. What it says from now on: BashOutput (bash_id ${id}).`;
}

const reasons: Readonly<Record<Restoration['reason'], string>> = {
  ended: 'had ended',
  idle: 'had been idle',
  moved: 'went on with a command in the background',
};

function describeRestored({ reason, variables, functions, aliases, lost }: Restoration): string {
  const kept = `directory, ${variables} variables, ${functions} functions, ${aliases} aliases and the options`;
  return `The session's shell ${reasons[reason]}. A new one has its ${kept}; not restored: ${lost.join(', ')}.`;
}

const notRun =
  "The command was not run: the files for its output, in nacre's own folder, had been deleted or replaced. The next command gets new ones: call again.";

function describeEnded({ cause, exitCode }: Outcome, cwd: string): string {
  const itself = `The command ended its shell${exitCode === 0 ? ', as exit, exec and set -n do' : ''}`;
  const why = cause === 'exit' ? itself : 'The shell was ended with the command';
  return `${why}; the next command gets a new one in ${cwd}, in the state before this command.`;
}
