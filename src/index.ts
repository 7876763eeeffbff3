// The public API: everything that `import … from 'nacre'` exports.

export { createNacre, type Nacre, type NacreSettings, type Surroundings } from './assembly/create-nacre.ts';
export type { Command } from './contract/command.ts';
export type { Decision } from './contract/decision.ts';
export { type FailureCode, NacreError } from './contract/failure.ts';
export type { Outcome } from './contract/outcome.ts';
export type { ToolResult } from './contract/tool-result.ts';
export { type AnthropicBash, toAnthropicBash } from './doors/functions/anthropic-bash.ts';
export { ShellStatus, ToolCategory } from './doors/functions/constants.ts';
export { registerExecutionTools, runWorkflow } from './doors/functions/default-instance.ts';
export type { ExecutionContext, OutputPiece } from './doors/functions/execution-context.ts';
export { type FunctionTool, toText } from './doors/functions/function-tool.ts';
export type { RunOptions } from './doors/functions/program-commands.ts';
export type { WorkflowOptions } from './doors/functions/program-workflows.ts';
export {
  type CleanupOptions,
  type CreateShellOptions,
  ShellManager,
} from './doors/functions/shell-manager.ts';
export {
  type NewOutputOptions,
  ShellProcess,
  type ShellWaitOptions,
} from './doors/functions/shell-process.ts';
export { ToolRegistry } from './doors/functions/tool-registry.ts';
export type { SchemaOptions, Vendor, VendorSchemas } from './doors/functions/vendor-schemas.ts';
export { BashLimits, ShellExecuteLimits } from './tools/common/default-limits.ts';
export type { ShellExecuteMetadata, ShellExecuteResult } from './tools/shell-execute/shell-execute.ts';
export type { StepResult, WorkflowEvent, WorkflowResult } from './workflows/events.ts';
export type { WorkflowStep } from './workflows/schema.ts';
