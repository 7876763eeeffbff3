import type { FunctionTool } from './function-tool.ts';
import type { Shells } from './own-shells.ts';
import type { OwnWorkflows } from './own-workflows.ts';

/** What of a nacre those use who are not told which one. */
export interface Bound {
  readonly executionTools: readonly FunctionTool[];
  readonly shells: Shells;
  readonly runWorkflow: OwnWorkflows['runWorkflow'];
  close(): Promise<void>;
}

const open: Bound[] = [];
let createDefault = (): Bound => {
  throw new Error('There is no nacre in this process.');
};
let made: Bound | undefined;

/** Notes a nacre as open; the first that is open serves whoever names none. Returns how to note its end. */
export function bind(nacre: Bound): () => void {
  open.push(nacre);
  return () => {
    const index = open.indexOf(nacre);
    if (index >= 0) open.splice(index, 1);
  };
}

/** Says how a nacre is made, and bound, where none is open. */
export function whenNoneIsOpen(create: () => Bound): void {
  createDefault = create;
}

/** The first nacre that is open in this process, or one with the settings that hold by default. */
export function firstNacre(): Bound {
  const [first] = open;
  if (first !== undefined) return first;
  made = createDefault();
  return made;
}

/** Closes the nacre that was made because none was open. */
export async function closeDefault(): Promise<void> {
  const last = made;
  made = undefined;
  await last?.close();
}
