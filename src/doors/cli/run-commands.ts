import { s } from '../../settings/schema.ts';
import { defineDoor } from '../define-door.ts';
import type { DoorGroup } from '../door.ts';
import { jsonFlag, pathFlag, switchFlag, textFlag } from '../flag-kinds.ts';

const timeoutFlag = s
  .int()
  .min(1)
  .max(86_400_000)
  .optional()
  .meta({ flag: '--timeout', description: 'Kill the command after this time, such as 30s.' });

const onFlag = textFlag('--on', 'The machine to run on: a name in the setting machines, or local.');

const inputFlag = s
  .text()
  .optional()
  .meta({ flag: '--input', description: "Text for the command's stdin; - forwards nacre's own stdin." });

/** Subcommands that run commands, or decide about them. */
export const runCommands: DoorGroup = {
  run: defineDoor({
    summary: 'Run a bash script, or a program with its arguments.',
    details: 'One argument is a bash script; several are a program and its arguments, run without a shell.',
    usage: "'COMMAND' | PROGRAM ARGUMENT...",
    examples: [
      ["nacre run 'make 2>&1 | tail -n 20'", 'Run a script with pipes and redirections.'],
      ['nacre run --timeout 30s -- npm test', 'Kill the program and everything it started after 30 seconds.'],
    ],
    flags: {
      json: jsonFlag,
      on: onFlag,
      cwd: pathFlag('--cwd', 'Directory to run in.'),
      timeoutMs: timeoutFlag,
      input: inputFlag,
      hold: switchFlag('--hold', 'Change no files; show the changes, and ask whether to apply them.'),
    },
    takesCommand: true,
    load: async () => (await import('./run.ts')).runDoor,
  }),
  try: defineDoor({
    summary: 'Run a command, then apply or discard its changes to files.',
    details: 'The same as nacre run --hold.',
    usage: "'COMMAND' | PROGRAM ARGUMENT...",
    examples: [
      ["nacre try 'sed -i s/colour/color/ *.md'", 'See the differences before any file is changed.'],
      ['nacre try -- npm install left-pad', 'See which files an installation creates.'],
    ],
    flags: {
      json: jsonFlag,
      on: onFlag,
      cwd: pathFlag('--cwd', 'Directory to run in.'),
      timeoutMs: timeoutFlag,
      input: inputFlag,
    },
    takesCommand: true,
    load: async () => {
      const { runDoor } = await import('./run.ts');
      return (deps) => runDoor({ ...deps, flags: { ...deps.flags, hold: true } });
    },
  }),
  check: defineDoor({
    summary: 'Show whether the policy would allow a command, and why.',
    details: 'Nothing runs.',
    usage: "'COMMAND'",
    examples: [
      ["nacre check 'git log | head'", 'Explain the decision about a command.'],
      ["nacre check --preset read-only 'rm notes.txt'", 'Explain what a preset would decide.'],
    ],
    flags: {
      json: jsonFlag,
      on: onFlag,
      cwd: pathFlag('--cwd', 'Directory it would run in.'),
      file: pathFlag('--file', 'Check a file of labelled commands (JSON Lines) and print a score instead.'),
    },
    takesCommand: true,
    load: async () => (await import('./check.ts')).checkDoor,
  }),
  machines: defineDoor({
    summary: 'Show which other machines can be reached.',
    details:
      'Connects to each of them and shows what it can enforce. With check and a name, waits until the machine is ready, which may include an upload of Node.js.',
    usage: '[check NAME]',
    examples: [
      ['nacre machines', 'List the machines: reachable or not, supervision, running commands and latency.'],
      ['nacre machines check gpu1', 'Connect to one machine and show everything that was found.'],
    ],
    flags: { json: jsonFlag },
    load: async () => (await import('./machines.ts')).machinesDoor,
  }),
  workflow: defineDoor({
    summary: 'Run the steps of a YAML file.',
    details: 'Later steps can use the output of earlier ones.',
    usage: 'FILE.yaml',
    examples: [
      ['nacre workflow release.yaml', 'Run every step and draw a live view.'],
      ['nacre workflow release.yaml --resume RUN', 'Continue a run that failed or was aborted.'],
    ],
    flags: {
      json: switchFlag('--json', 'Print JSON Lines even at a terminal.'),
      abortFile: pathFlag('--abort-file', 'Abort when this file appears.'),
      resume: textFlag('--resume', 'Continue the run with this id after the steps it completed.'),
      parallel: s.int().min(1).max(64).optional().meta({
        flag: '--parallel',
        description: 'Maximum number of steps that run at the same time; overrides the file.',
      }),
    },
    load: async () => (await import('./workflow.ts')).workflowDoor,
  }),
};
