// The loop that every client runs: ten standard results whose sizes are compared, and a command that needs approval.

/** One tool call of the scripted model, and what its result must have. */
export interface Step {
  /** The name of the result in tables. */
  readonly name: string;
  readonly tool: string;
  readonly args: object;
  /** Texts that the model must read exactly once. */
  readonly once: readonly string[];
  /** Whether the result is marked as an error, in protocols that can. */
  readonly isError: boolean;
}

// A client may repeat the command of a failed call, so the texts in `once` are not in the command as they are printed.
const log =
  'for i in {1..200}; do echo "2026-01-01T00:00:00Z worker[$i]: finished job $i of two hundred"; done; echo "one w"arning >&2';

/** The ten standard results, in order. */
export const standardSteps: readonly Step[] = [
  run('short', 'echo "hel"lo', ['hello']),
  run('failing', 'echo "par"tial; echo "cannot o"pen it >&2; exit 3', ['partial', 'cannot open it']),
  {
    ...run('timeout', 'echo "bef"ore; sleep 60', ['before', 'timed out'], { timeout_ms: 500 }),
    isError: true,
  },
  run('log', log, ['finished job 1 of', 'finished job 200 of', 'one warning']),
  run('large', 'seq 1 160000; echo "disk is f"ull >&2; exit 4', ['disk is full']),
  step(
    'start',
    'start_command',
    { command: 'echo "now rea"dy; sleep 60', name: 'web', wait_for: 'now r.ady' },
    ['now ready'],
  ),
  step('read', 'read_output', { command_id: 'web', cursor: 0, wait_ms: 0 }, ['now ready']),
  step('stop', 'stop_command', { command_id: 'web' }, ['SIGINT']),
  step('session', 'Bash', { command: 'cd /usr && echo "in $PWD"' }, ['in /usr']),
  { ...run('refusal', 'curl http://127.0.0.1:1/', ['Downloads are not allowed here']), isError: true },
];

/** A command that needs approval, in a client that cannot ask. */
export const approvalStep: Step = {
  ...run('approval', 'touch made', ['New files need approval']),
  isError: true,
};

function run(name: string, command: string, once: readonly string[], more: object = {}): Step {
  return step(name, 'execute_command', { command, ...more }, once);
}

function step(name: string, tool: string, args: object, once: readonly string[]): Step {
  return { name, tool, args, once, isError: false };
}
