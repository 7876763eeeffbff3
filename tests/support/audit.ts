import type { AuditEntry } from '../../src/audit/entry.ts';

/** Who asks in tests of the audit log. */
export const auditCaller = { door: 'mcp', client: 'test 1.0' } as const;

/** What is recorded when somebody asks for a command. */
export function askedFor(
  script: string,
  more: Partial<Extract<AuditEntry, { kind: 'asked' }>> = {},
): AuditEntry {
  const command = { kind: 'shell', script } as const;
  return { kind: 'asked', id: 'cmd_1', caller: auditCaller, command, cwd: undefined, env: {}, ...more };
}
