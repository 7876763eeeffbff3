/**
 * The CPU time that this process uses while a function runs, in milliseconds. Unlike the elapsed time, it does not depend on what
 * else the machine runs.
 */
export function cpuMsOf(call: () => unknown): number {
  const before = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
