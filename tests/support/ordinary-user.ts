/** Changes uid and gid of this process permanently to an ordinary user, to whom permissions and limits apply. */
export function becomeOrdinaryUser(): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
