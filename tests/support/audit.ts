import type { AuditLog } from '../../src/audit/audit-log.ts';
import type { AuditEntry } from '../../src/audit/entry.ts';

/** The caller in tests of the audit log. */
export const auditCaller = { door: 'mcp', client: 'test 1.0' } as const;

/** The entry for a requested command. */
export function askedEntry(
  script: string,
  more: Partial<Extract<AuditEntry, { kind: 'asked' }>> = {},
): AuditEntry {
  const command = { kind: 'shell', script } as const;
  return { kind: 'asked', id: 'cmd_1', caller: auditCaller, command, cwd: undefined, env: {}, ...more };
}

/** Records all entries of a command as the engine does: asked, decided, started and finished. */
export function recordCommand(log: AuditLog, id: string, script: string): void {
  const named = { id, caller: auditCaller };
  const decision = {
    verdict: 'allow',
    rule: 'everything_allowed',
    reason: 'Everything is allowed.',
    programs: [{ name: 'command', pos: 0, end: 7 }],
  } as const;
  log.record(askedEntry(script, { id }));
  log.record({ kind: 'decided', ...named, cwd: '/home/user/project', decision });
  log.record({ kind: 'started', ...named, cwd: '/home/user/project' });
  log.record(finishedEntry(id));
}

/** The entry for a command that has ended. */
export function finishedEntry(id: string): AuditEntry {
  const digest = '0'.repeat(64);
  return {
    kind: 'finished',
    id,
    caller: auditCaller,
    outcome: {
      id,
      status: 'completed',
      cause: 'exit',
      exitCode: 0,
      signal: null,
      detail: null,
      cwd: '/home/user/project',
      durationMs: 12,
      stdoutBytes: 1_000,
      stderrBytes: 0,
      digests: { stdout: digest, stderr: digest },
      leftRunning: [],
      kept: [],
      survivors: [],
      deniedHosts: [],
      withheldEnv: [],
      enforcement: null,
      resources: { cpuMs: 1, peakMemoryBytes: 1, processes: 1, readBytes: 1, writtenBytes: 1 },
    },
  };
}
