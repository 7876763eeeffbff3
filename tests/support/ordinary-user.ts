/** Makes this process one of an ordinary user, for whom permissions and limits count; it stays that. */
export function becomeOrdinaryUser(): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
