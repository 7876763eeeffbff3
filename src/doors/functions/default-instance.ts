// The instance for `runWorkflow`, `registerExecutionTools` and `ShellManager`: the first that `createNacre` opened and that
// is still open, or one with default settings.
import type { WorkflowResult } from '../../workflows/events.ts';
import type { WorkflowStep } from '../../workflows/schema.ts';
import type { BackgroundShells } from './background-shells.ts';
import type { FunctionTool } from './function-tool.ts';
import type { ProgramWorkflows, WorkflowOptions } from './program-workflows.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** The parts of a nacre instance that module-level helpers use. */
export interface Instance extends ProgramWorkflows {
  readonly executionTools: readonly FunctionTool[];
  readonly shells: BackgroundShells;
  close(): Promise<void>;
}

const open: Instance[] = [];
let createDefault = (): Instance => {
  throw new Error('setDefaultFactory was not called.');
};
let created: Instance | undefined;

/** Registers an open instance; returns a function that unregisters it. */
export function registerInstance(instance: Instance): () => void {
  open.push(instance);
  return () => {
    const index = open.indexOf(instance);
    if (index >= 0) open.splice(index, 1);
  };
}

/** Sets the function with which `defaultInstance` creates an instance when none is open. */
export function setDefaultFactory(create: () => Instance): void {
  createDefault = create;
}

/** Returns the first open instance of this process; creates one with default settings if there is none. */
export function defaultInstance(): Instance {
  const [first] = open;
  if (first !== undefined) return first;
  created = createDefault();
  return created;
}

/** The number of open instances of this process. */
export function openInstanceCount(): number {
  return open.length;
}

/** Closes the instance that `defaultInstance` created. */
export async function closeDefaultInstance(): Promise<void> {
  const last = created;
  created = undefined;
  await last?.close();
}

/** Registers the tools of `defaultInstance()`. */
export function registerExecutionTools(registry: ToolRegistry): ToolRegistry {
  for (const tool of defaultInstance().executionTools) registry.register(tool);
  return registry;
}

/** Runs a workflow on `defaultInstance()`. */
export function runWorkflow(
  steps: readonly WorkflowStep[],
  options?: WorkflowOptions,
): Promise<WorkflowResult> {
  return defaultInstance().runWorkflow(steps, options);
}
