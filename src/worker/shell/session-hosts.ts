import type { JobEnd } from '../../contract/job.ts';
import type { ShellHost } from './shell-host.ts';

/** The `ShellHost`s of a session besides its current one. */
export class SessionHosts {
  /** Hosts whose shell still runs a command that the session no longer waits for. */
  readonly #detached = new Set<ShellHost>();
  /** Hosts whose detached command has ended, but left processes in the background. */
  readonly #background = new Set<ShellHost>();

  /** Adds a host whose command was detached; `release` is called when the command ends. */
  detach(host: ShellHost): void {
    this.#detached.add(host);
  }

  /** Called when a command has ended. Returns `true` if it was detached; its host is then closed as soon as it is quiet. */
  release(host: ShellHost): boolean {
    if (!this.#detached.delete(host)) return false;
    this.#background.add(host);
    void this.#closeIfQuiet(host);
    return true;
  }

  async closeQuiet(): Promise<void> {
    await Promise.all([...this.#background].map((host) => this.#closeIfQuiet(host)));
  }

  /** Closes all hosts, with the commands that they run; returns the processes that could not be killed. */
  async closeAll(): Promise<JobEnd['survivors']> {
    const all = [...this.#detached, ...this.#background];
    return (await Promise.all(all.map((host) => host.close()))).flat();
  }

  async #closeIfQuiet(host: ShellHost): Promise<void> {
    if (!(await isQuiet(host))) return;
    this.#background.delete(host);
    await host.close();
  }
}

/** True when `tree` contains nothing but the host process and its idle shell. */
export async function isQuiet({ started }: ShellHost): Promise<boolean> {
  return (await started.tree.scan()).commandProcesses.length <= 2;
}
