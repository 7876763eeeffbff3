import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { hostScript } from './host-script.ts';

/** Machines h1, h2 … that `ssh -F CONFIG` reaches. */
export interface TestHosts {
  /** The configuration file for ssh. */
  readonly config: string;
  /** Changes the network (`cut`, `heal`) or the power (`off`, `on`) of a machine. */
  change(verb: 'cut' | 'heal' | 'off' | 'on', index: number): void;
  /** The command lines of the processes on a machine, without its init and sshd. */
  processes(index: number): readonly string[];
  stop(): void;
}

/** Why such machines cannot be started here; undefined if they can. */
export function whyNoHosts(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, to create machines';
  const programs = ['/usr/sbin/sshd', '/usr/sbin/ip'].filter(
    (path) => !existsSync(path) && !existsSync(path.replace('/usr', '')),
  );
  return programs.length > 0 ? `needs ${programs.join(' and ')}` : undefined;
}

/** Starts machines; `without` has programs that machines lack, such as `2:node`. */
export function startHosts(count: number, without: readonly string[] = []): TestHosts {
  const folder = join(temporaryFolder(), 'hosts');
  const script = hostScript('ssh');
  const run = (...words: readonly string[]) =>
    execFileSync(script, words, { stdio: ['ignore', 'inherit', 'inherit'] });
  run('up', folder, String(count), ...without);
  return {
    config: join(folder, 'config'),
    change: (verb, index) => void run(verb, folder, String(index)),
    processes: (index) => processesIn(readFileSync(join(folder, String(index), 'pid'), 'utf8').split(' ')[0]),
    stop() {
      run('down', folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// The first process of a machine is a shell that sleeps.
const own = /^(?:\/bin\/bash -c umount|sleep 1000|(?:\/usr\/sbin\/)?sshd)/;

function processesIn(first = ''): readonly string[] {
  const namespaceOf = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`);
    } catch {
      return '';
    }
  };
  const wanted = namespaceOf(first);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && namespaceOf(name) === wanted);
  const lines = pids.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  });
  return lines.filter((line) => line !== '' && !own.test(line));
}
