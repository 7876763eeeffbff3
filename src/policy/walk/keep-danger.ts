import type { Walk } from './walk.ts';

/** Judges a part of a command that may not run, and keeps only the danger found in it. */
export function keepDanger(walk: Walk, judge: () => void): void {
  const problems = walk.problems.length;
  const invocations = walk.invocations.length;
  judge();
  const danger = walk.problems.splice(problems).filter(({ scope }) => scope === 'danger');
  walk.problems.push(...danger);
  walk.invocations.splice(invocations);
}
