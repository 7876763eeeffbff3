import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ProcessInfo } from '../processes/process-table.ts';

/**
 * True for a child of the shell that writes into a pipe that the shell reads: a command substitution. bash sends SIGINT to
 * itself when such a child was killed by SIGINT, and would exit.
 */
export function isSubstitution({ pid, parent }: ProcessInfo, shell: number): boolean {
  if (parent !== shell) return false;
  const read = new Set(openPipes(shell, 'read'));
  // Checks twice, because between fork() and dup2() the child has the pipe open with another number, which the first
  // call may miss.
  return [1, 2].some(() => openPipes(pid, 'write').some((pipe) => read.has(pipe)));
}

const accessMode = 0o3;

function openPipes(pid: number, direction: 'read' | 'write'): readonly string[] {
  const wanted = direction === 'read' ? 0o0 : 0o1;
  return openDescriptors(pid).flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${name}`);
      if (!target.startsWith('pipe:')) return [];
      const [, flags = ''] =
        /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8')) ?? [];
      return (Number.parseInt(flags, 8) & accessMode) === wanted ? [target] : [];
    } catch {
      return [];
    }
  });
}

function openDescriptors(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}
