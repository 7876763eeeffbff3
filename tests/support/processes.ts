import { readdirSync, readFileSync } from 'node:fs';

/** The pids of living processes whose environment or command line contains a text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter(
      (pid) => !isZombie(pid) && (read(pid, 'environ').includes(text) || read(pid, 'cmdline').includes(text)),
    );
}

/** The living or dead (zombie) children of this very process. */
export function zombieChildren(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isZombie(pid) && parentOf(pid) === process.pid);
}

/** How many file descriptors this process holds. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function isZombie(pid: number): boolean {
  return /\) [ZX] /.test(read(pid, 'stat'));
}

function parentOf(pid: number): number {
  const stat = read(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
