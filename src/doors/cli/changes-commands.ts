import { defineDoor } from '../define-door.ts';
import type { DoorGroup } from '../door.ts';
import { jsonFlag, switchFlag, textFlag } from '../flag-kinds.ts';

const forceFlag = switchFlag('--force', 'Also replace files that another program has changed since.');

/** Subcommands for files that commands have changed. */
export const changesCommands: DoorGroup = {
  changes: defineDoor({
    summary: 'List changes that are held or can be undone, or show one diff.',
    usage: '[ID] [PATH...]',
    examples: [
      ['nacre changes', 'List them, the newest last.'],
      ['nacre changes cmd_4f9c1a20b7e3', 'Show the differences of one.'],
    ],
    flags: { json: jsonFlag },
    load: async () => (await import('./changes.ts')).changesDoor,
  }),
  apply: defineDoor({
    summary: 'Apply held changes to the workspace.',
    details: 'A file that another program has changed since is left alone and named.',
    usage: 'ID [PATH...]',
    examples: [
      ['nacre apply cmd_4f9c1a20b7e3', 'Apply all of them.'],
      ['nacre apply cmd_4f9c1a20b7e3 src/a.ts', 'Apply one file; the others stay held.'],
    ],
    flags: { json: jsonFlag, force: forceFlag },
    load: async () => (await import('./changes.ts')).applyDoor,
  }),
  discard: defineDoor({
    summary: 'Forget held changes.',
    details: 'Applied changes stay, but can no longer be undone.',
    usage: 'ID [PATH...]',
    examples: [
      ['nacre discard cmd_4f9c1a20b7e3', 'Forget all of them.'],
      ['nacre discard cmd_4f9c1a20b7e3 build', 'Forget those in one folder; the others stay held.'],
    ],
    flags: { json: jsonFlag },
    load: async () => (await import('./changes.ts')).discardDoor,
  }),
  undo: defineDoor({
    summary: 'Restore the files from before a command.',
    details:
      'The changes are held afterwards, so that nacre apply brings them back. A file that was changed since is left alone and named.',
    usage: 'ID [PATH...] | --to TIME|ID',
    examples: [
      ['nacre undo cmd_4f9c1a20b7e3', 'Undo one command.'],
      ['nacre undo --to 30min', 'Undo everything of the last 30 minutes, the newest first.'],
    ],
    flags: {
      json: jsonFlag,
      force: forceFlag,
      to: textFlag(
        '--to',
        'Undo this command and all later ones, or all since a time: an age (90min, 2d) or a timestamp.',
      ),
    },
    load: async () => (await import('./changes.ts')).undoDoor,
  }),
};
