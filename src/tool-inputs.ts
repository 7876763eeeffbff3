import type { ToolFamily } from './tools/settings.ts';
import type { CheckCommandInput } from './tools/terminal/check-command.ts';
import type { ExecuteCommandInput } from './tools/terminal/execute-command.ts';

/** The tools of each family by the names that programs call them, with their inputs. */
export interface ToolInputs extends Record<ToolFamily, object> {
  readonly terminal: {
    readonly executeCommand: ExecuteCommandInput;
    readonly checkCommand: CheckCommandInput;
  };
}
