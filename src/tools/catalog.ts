import type { AllowedCheck, AllowedCommands, AllowedRun } from './allowed-run.ts';
import { bash } from './bash/bash.ts';
import { bashOutput } from './bash/bash-output.ts';
import { killShell } from './bash/kill-shell.ts';
import { listShells } from './bash/list-shells.ts';
import type { Tool } from './define-tool.ts';
import type { ToolFamily } from './settings.ts';
import { shellExecute } from './shell-execute/shell-execute.ts';
import { checkCommand } from './terminal/check-command.ts';
import { executeCommand } from './terminal/execute-command.ts';
import { listCommands } from './terminal/list-commands.ts';
import { readOutput } from './terminal/read-output.ts';
import { startCommand } from './terminal/start-command.ts';
import { stopCommand } from './terminal/stop-command.ts';
import { writeInput } from './terminal/write-input.ts';

/** What a tool family is made with. */
export interface FamilyOptions {
  readonly run: AllowedRun;
  readonly check: AllowedCheck;
  readonly commands: AllowedCommands;
  readonly maxOutputChars: number;
  /** What becomes of a command of `Bash` that takes too long. */
  readonly onTimeout: 'kill' | 'background';
}

/** Every tool family and the tools it offers. */
export const families: Readonly<Record<ToolFamily, (options: FamilyOptions) => readonly Tool[]>> = {
  terminal: ({ run, check, commands, ...defaults }) => [
    executeCommand({ run, commands }, defaults),
    startCommand(commands, defaults),
    readOutput(commands, defaults),
    writeInput(commands, defaults),
    stopCommand(commands, defaults),
    listCommands(commands),
    checkCommand(check),
  ],
  'shell-execute': ({ run, maxOutputChars }) => [shellExecute(run, { maxOutputChars })],
  bash: ({ run, commands, onTimeout }) => [
    bash({ run, commands, onTimeout }),
    bashOutput(commands),
    killShell(commands),
    listShells(commands),
  ],
};
