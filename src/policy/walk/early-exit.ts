import type { AndOr, Command, PipelineNode } from 'unbash';
import type { Walk } from './walk.ts';

/** Whether what stands behind a command may not be reached. */
export function mayExitEarly(node: PipelineNode | AndOr): boolean {
  if (node.type === 'Command') return isLeaving(node);
  if (node.type === 'AndOr') return node.commands.some(mayExitEarly);
  return node.type === 'BraceGroup' && node.body.commands.some(({ command }) => mayExitEarly(command));
}

/** Whether a command ends with leaving the script, the function or the loop. */
export function exitsEarly(node: PipelineNode | AndOr | undefined): boolean {
  if (node?.type === 'Command') return isLeaving(node);
  if (node?.type === 'BraceGroup') return exitsEarly(node.body.commands.at(-1)?.command);
  return false;
}

/** Whether what was called since may end the shell or turn its output elsewhere, from inside a function, too. */
export function mayEndShell({ invocations }: Walk, since: number): boolean {
  for (let at = since; at < invocations.length; at++) if (isEnding(invocations[at]?.name ?? '')) return true;
  return false;
}

const leaving = new Set(['exit', 'return', 'break', 'continue', 'exec']);

function isLeaving({ name }: Command): boolean {
  // Quotes only make a name longer, so what is shorter than the shortest need not be read.
  return name !== undefined && name.text.length > 3 && leaving.has(name.value);
}

function isEnding(name: string): boolean {
  return name === 'exit' || name === 'exec' || name === 'set';
}
