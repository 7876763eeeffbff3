import type { CommandCard } from '../contract/console.ts';

const badStates = new Set(['failed', 'timeout', 'killed', 'error', 'lost', 'refused']);

/** Whether a command ended badly or was refused. */
export function isProblem({ state }: Pick<CommandCard, 'state'>): boolean {
  return badStates.has(state);
}

/** Whether a command has not ended. */
export function isOpen({ state }: Pick<CommandCard, 'state'>): boolean {
  return state === 'running' || state === 'waiting' || state === 'asked';
}
