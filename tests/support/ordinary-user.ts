import { spawnSync } from 'node:child_process';

/** Runs this program again as an ordinary user and exits with it, unless this process is not root. */
export function restartAsOrdinaryUser(): void {
  if (process.getuid?.() !== 0) return;
  const [program = '', ...args] = process.argv;
  const { status } = spawnSync(program, args, { uid: 65_534, gid: 65_534, stdio: 'inherit' });
  process.exit(status ?? 1);
}

/** Changes uid and gid of this process permanently to an ordinary user, to whom permissions and limits apply. */
export function becomeOrdinaryUser(): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
