import type { AndOr, Command, PipelineNode } from 'unbash';
import type { Walk } from './walk.ts';

/** Returns true if the commands after this one may not be reached, as after `x || exit`. */
export function mayExitEarly(node: PipelineNode | AndOr): boolean {
  if (node.type === 'Command') return isExiting(node);
  if (node.type === 'AndOr') return node.commands.some(mayExitEarly);
  return node.type === 'BraceGroup' && node.body.commands.some(({ command }) => mayExitEarly(command));
}

/** Returns true if a command ends with `exit`, `return`, `break`, `continue` or `exec`. */
export function exitsEarly(node: PipelineNode | AndOr | undefined): boolean {
  if (node?.type === 'Command') return isExiting(node);
  if (node?.type === 'BraceGroup') return exitsEarly(node.body.commands.at(-1)?.command);
  return false;
}

/** Returns true if an invocation since index `since`, even inside a function, may end the shell or redirect its output. */
export function mayEndShell({ invocations }: Walk, since: number): boolean {
  for (let at = since; at < invocations.length; at++) if (endsShell(invocations[at]?.name ?? '')) return true;
  return false;
}

const exiting = new Set(['exit', 'return', 'break', 'continue', 'exec']);

function isExiting({ name }: Command): boolean {
  // Quotes only make `text` longer than `value`, so skip reading `value` for texts shorter than `exit`.
  return name !== undefined && name.text.length > 3 && exiting.has(name.value);
}

function endsShell(name: string): boolean {
  return name === 'exit' || name === 'exec' || name === 'set';
}
