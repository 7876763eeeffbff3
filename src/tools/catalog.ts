import type { ToolChanges } from '../engine/changes/changes.ts';
import { bash } from './bash/bash.ts';
import { bashOutput } from './bash/bash-output.ts';
import { killShell } from './bash/kill-shell.ts';
import { listShells } from './bash/list-shells.ts';
import {
  applyChanges,
  discardChanges,
  listChanges,
  showChangesTool,
  undoChanges,
} from './changes/changes-tools.ts';
import type { TimeLimits } from './common/time-limits.ts';
import type { AllowedCheck, AllowedCommands, AllowedRun, Tool } from './common/tool.ts';
import type { ToolFamily } from './settings.ts';
import { shellExecute } from './shell-execute/shell-execute.ts';
import { checkCommand } from './terminal/check-command.ts';
import { executeCommand } from './terminal/execute-command.ts';
import { listCommands } from './terminal/list-commands.ts';
import { readOutput } from './terminal/read-output.ts';
import { startCommand } from './terminal/start-command.ts';
import { stopCommand } from './terminal/stop-command.ts';
import { writeInput } from './terminal/write-input.ts';

/** Dependencies of a tool family. */
export interface FamilyDeps {
  readonly run: AllowedRun;
  readonly check: AllowedCheck;
  readonly commands: AllowedCommands;
  readonly changes: ToolChanges;
  readonly maxOutputChars: number;
  readonly timeLimits: TimeLimits;
  /** Whether a timed-out `Bash` command is killed or keeps running as a background shell. */
  readonly onTimeout: 'kill' | 'background';
}

/** Creates the tools of each family. */
export const families: Readonly<Record<ToolFamily, (deps: FamilyDeps) => readonly Tool[]>> = {
  terminal: ({ run, check, commands, maxOutputChars, timeLimits }) => {
    const defaults = { maxOutputChars };
    return [
      executeCommand({ run, commands }, { ...defaults, ...timeLimits }),
      startCommand(commands, defaults),
      readOutput(commands, defaults),
      writeInput(commands, defaults),
      stopCommand(commands, defaults),
      listCommands(commands),
      checkCommand(check),
    ];
  },
  'shell-execute': ({ run, maxOutputChars, timeLimits }) => [
    shellExecute(run, { maxOutputChars, ...timeLimits }),
  ],
  bash: ({ run, commands, onTimeout, timeLimits }) => [
    bash({ run, commands, onTimeout, timeLimits }),
    bashOutput(commands),
    killShell(commands),
    listShells(commands),
  ],
  changes: ({ changes }) => [
    listChanges(changes),
    showChangesTool(changes),
    applyChanges(changes),
    discardChanges(changes),
    undoChanges(changes),
  ],
};
