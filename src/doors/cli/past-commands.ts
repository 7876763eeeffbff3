import { s } from '../../settings/schema.ts';
import { defineDoor } from '../define-door.ts';
import type { DoorGroup } from '../door.ts';
import { jsonFlag, pathFlag, sinceFlag, switchFlag, textFlag } from '../flag-kinds.ts';

/** Subcommands that read the audit log and recordings. */
export const pastCommands: DoorGroup = {
  history: defineDoor({
    summary: 'Show past commands from the audit log.',
    usage: '',
    examples: [
      ['nacre history --failed --since 2d', 'Commands of the last two days that did not complete.'],
      ["nacre history --grep 'git push' --cwd .", 'Pushes from this directory or below it.'],
    ],
    flags: {
      json: switchFlag('--json', 'Print one JSON document per command.'),
      grep: textFlag('--grep', 'Only commands that match this regular expression.'),
      failed: switchFlag('--failed', 'Only commands that did not complete.'),
      cwd: pathFlag('--cwd', 'Only commands that ran in this directory or below it.'),
      since: sinceFlag,
      limit: s
        .int()
        .min(1)
        .max(1_000_000)
        .default(100)
        .meta({ flag: '--limit', description: 'Maximum number of commands to show; the newest are kept.' }),
    },
    load: async () => (await import('./history.ts')).historyDoor,
  }),
  replay: defineDoor({
    summary: 'Play back the recorded output of a command.',
    details: 'The setting record makes nacre record commands.',
    usage: 'ID',
    examples: [
      [
        'nacre replay cmd_4f9c1a20b7e3 --speed 4 --max-pause 1s',
        'Play it four times as fast, without long pauses.',
      ],
      ['nacre replay cmd_4f9c1a20b7e3 --export v2 > build.cast', 'Write a file for an asciicast player.'],
    ],
    flags: {
      speed: s
        .int()
        .min(1)
        .max(1_000)
        .default(1)
        .meta({ flag: '--speed', description: 'Play N times as fast.' }),
      maxPauseMs: s
        .int()
        .min(0)
        .max(86_400_000)
        .optional()
        .meta({ flag: '--max-pause', description: 'Shorten pauses to at most this time, such as 2s.' }),
      export: s.choice(['v2', 'v3']).optional().meta({
        flag: '--export',
        description: 'Print the recording in this version of asciicast instead of playing it.',
      }),
    },
    load: async () => (await import('./replay.ts')).replayDoor,
  }),
  learn: defineDoor({
    summary: 'Suggest a list of programs to allow, from past commands.',
    details: 'The list comes from the audit log, with the number of commands that used each program.',
    usage: '',
    examples: [
      ['nacre learn --since 7d', 'Suggest a list from the commands of the last week.'],
      [
        'nacre learn --client claude-code --min 3',
        'Leave out programs that this client used less than three times.',
      ],
    ],
    flags: {
      json: jsonFlag,
      since: sinceFlag,
      client: textFlag('--client', 'Only commands from this client.'),
      min: s
        .int()
        .min(1)
        .max(1_000_000)
        .default(1)
        .meta({ flag: '--min', description: 'Leave out programs that fewer than N commands used.' }),
    },
    load: async () => (await import('./learn.ts')).learnDoor,
  }),
  audit: defineDoor({
    summary: 'Verify, show, export, follow (tail) or prune the audit log.',
    usage: 'verify | show | export | tail | prune',
    examples: [
      ['nacre audit verify', 'Check that no record was changed or removed.'],
      [
        'nacre audit show --outcome refused --since 2d',
        'Show the commands that were refused in the last two days.',
      ],
    ],
    flags: {
      json: jsonFlag,
      since: sinceFlag,
      program: textFlag('--program', 'Only commands that ran this program.'),
      outcome: textFlag(
        '--outcome',
        'Only commands with this outcome: completed, failed, timeout, killed, refused or running.',
      ),
      client: textFlag('--client', 'Only commands from this client.'),
      id: textFlag('--id', 'Only the command with this id.'),
      yes: switchFlag('--yes', 'For prune: remove the files without asking.'),
    },
    load: async () => (await import('./audit.ts')).auditDoor,
  }),
};
