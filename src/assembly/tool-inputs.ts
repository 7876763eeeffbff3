import type { BashInput } from '../tools/bash/bash.ts';
import type { BashOutputInput } from '../tools/bash/bash-output.ts';
import type { KillShellInput } from '../tools/bash/kill-shell.ts';
import type { ListShellsInput } from '../tools/bash/list-shells.ts';
import type {
  ApplyChangesInput,
  DiscardChangesInput,
  ListChangesInput,
  ShowChangesInput,
} from '../tools/changes/changes-tools.ts';
import type { ToolFamily } from '../tools/settings.ts';
import type { ShellExecuteInput, ShellExecuteResult } from '../tools/shell-execute/shell-execute.ts';
import type { CheckCommandInput } from '../tools/terminal/check-command.ts';
import type { ExecuteCommandInput } from '../tools/terminal/execute-command.ts';
import type { ListCommandsInput } from '../tools/terminal/list-commands.ts';
import type { ReadOutputInput } from '../tools/terminal/read-output.ts';
import type { StartCommandInput } from '../tools/terminal/start-command.ts';
import type { StopCommandInput } from '../tools/terminal/stop-command.ts';
import type { WriteInputInput } from '../tools/terminal/write-input.ts';

/** Input types of each family's tools, by their names in camelCase. */
export interface ToolInputs extends Record<ToolFamily, object> {
  readonly terminal: {
    readonly executeCommand: ExecuteCommandInput;
    readonly startCommand: StartCommandInput;
    readonly readOutput: ReadOutputInput;
    readonly writeInput: WriteInputInput;
    readonly stopCommand: StopCommandInput;
    readonly listCommands: ListCommandsInput;
    readonly checkCommand: CheckCommandInput;
  };
  readonly 'shell-execute': {
    readonly shellExecute: ShellExecuteInput;
  };
  readonly bash: {
    readonly bash: BashInput;
    readonly bashOutput: BashOutputInput;
    readonly killShell: KillShellInput;
    readonly listShells: ListShellsInput;
  };
  readonly changes: {
    readonly listChanges: ListChangesInput;
    readonly showChanges: ShowChangesInput;
    readonly applyChanges: ApplyChangesInput;
    readonly discardChanges: DiscardChangesInput;
    readonly undoChanges: ApplyChangesInput;
  };
}

/** Result types of tools that do not return `ToolResult`. */
export interface ToolOwnResults {
  readonly shellExecute: ShellExecuteResult;
}
