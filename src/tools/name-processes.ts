import type { ProcessRef } from '../contract/job.ts';

const mostNamed = 20;
const longestName = 120;

/** Processes for people: the first of them, each on one line and no longer than that needs to be known. */
export function nameProcesses(processes: readonly ProcessRef[]): readonly string[] {
  const named = processes.slice(0, mostNamed).map(({ pid, command }) => `${shorten(command)} (pid ${pid})`);
  const more = processes.length - named.length;
  return more > 0 ? [...named, `${more} more`] : named;
}

function shorten(command: string): string {
  const line = command.replace(/\s+/g, ' ');
  return line.length > longestName ? `${line.slice(0, longestName)}…` : line;
}
