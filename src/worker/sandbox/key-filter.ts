import { readFileSync } from 'node:fs';
import { keyrings, toSeccompFilter } from '../guard/seccomp-filter.ts';
import type { SandboxPlan } from './sandbox-plan.ts';

let filter: Buffer | undefined;

/**
 * The seccomp filter of a sandbox by bubblewrap: it denies the calls for keys in the kernel, which are in no namespace, so
 * that a command could read those of the server's session. Undefined without a sandbox, or if the kernel has no filters.
 */
export function keyFilter({ isolation }: SandboxPlan): Buffer | undefined {
  if (isolation.sandbox === 'off' || !hasFilters()) return undefined;
  filter ??= toSeccompFilter(keyrings);
  return filter;
}

let isSupported: boolean | undefined;

function hasFilters(): boolean {
  isSupported ??= /^Seccomp:/m.test(readFileSync('/proc/self/status', 'utf8'));
  return isSupported;
}
