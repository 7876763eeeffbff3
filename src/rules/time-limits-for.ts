import type { Patience, TimeLimits } from '../tools/common/time-limits.ts';
import type { ToolFamily } from '../tools/settings.ts';
import type { Resolved } from './rules-for.ts';

// Several clients drop a reply that takes more than a minute, so the default of `terminal_timeout_ms` is shorter.
const patientMs = 120_000;

/** The time limits of one tool family for a client that waits as long as `patience` says. */
export function timeLimitsFor(
  family: ToolFamily,
  { values, origins }: Resolved,
  patience: Patience,
): TimeLimits {
  const { source, tightenedBy } = origins.terminalTimeoutMs;
  const isUnset = source === 'default' && tightenedBy === undefined;
  const terminalMs = isUnset && patience === 'long' ? patientMs : values.terminalTimeoutMs;
  const [defaultMs, maxMs] = {
    terminal: [terminalMs, values.terminalTimeoutMaxMs] as const,
    bash: [values.bashTimeoutMs, values.bashTimeoutMaxMs] as const,
    'shell-execute': [values.shellExecuteTimeoutMs, values.shellExecuteTimeoutMaxMs] as const,
    // The tools of this family run no command.
    changes: [terminalMs, values.terminalTimeoutMaxMs] as const,
  }[family];
  return { defaultMs: Math.min(defaultMs, maxMs), maxMs };
}
