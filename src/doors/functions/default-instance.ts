// The instance for `runWorkflow`, `registerExecutionTools` and `ShellManager`: the first that `createNacre` opened and that
// is still open. A program that has never called `createNacre` gets one with default settings; one that has closed its
// instance gets an error, because default settings would not have the list of programs that it chose.
import { instanceClosed } from '../../contract/failure.ts';
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
let hasOwn = false;

/** Registers an open instance, which `createNacre` or `setDefaultFactory` created; returns a function that unregisters it. */
export function registerInstance(instance: Instance, origin: 'program' | 'default'): () => void {
  open.push(instance);
  hasOwn ||= origin === 'program';
  return () => {
    const index = open.indexOf(instance);
    if (index >= 0) open.splice(index, 1);
  };
}

/** Sets the function with which `defaultInstance` creates an instance when none is open. */
export function setDefaultFactory(create: () => Instance): void {
  createDefault = create;
}

/** Returns the first open instance of this process; throws `closed` if the program has created some and closed them all. */
export function defaultInstance(): Instance {
  const [first] = open;
  if (first !== undefined) return first;
  if (hasOwn) throw instanceClosed();
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

/** Registers the tools of `defaultInstance()`, in place of those that an earlier call registered. */
export function registerExecutionTools(registry: ToolRegistry): ToolRegistry {
  for (const tool of defaultInstance().executionTools) {
    const { name } = tool;
    const existing = registry.get(name);
    if (existing !== undefined && registered.has(existing)) registry.unregister(name);
    registry.register(tool);
    registered.add(tool);
  }
  return registry;
}

const registered = new WeakSet<FunctionTool>();

/** Runs a workflow on `defaultInstance()`. */
export async function runWorkflow(
  steps: readonly WorkflowStep[],
  options?: WorkflowOptions,
): Promise<WorkflowResult> {
  return defaultInstance().runWorkflow(steps, options);
}
