import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** Where the audit log is and how soon it is safe on disk. */
export const auditSettings = defineSettings({
  auditDir: z.string().min(1).optional().meta({
    env: 'NACRE_AUDIT_DIR',
    flag: '--audit-dir',
    description: 'Directory of the audit log.',
    unset: 'audit in the state directory',
    path: true,
  }),
  auditFsync: z.enum(['interval', 'always']).default('interval').meta({
    env: 'NACRE_AUDIT_FSYNC',
    flag: '--audit-fsync',
    description:
      'Whether audit records are forced to disk from time to time or each before its command runs.',
    project: 'stricter',
  }),
  auditKey: z.string().min(1).optional().meta({
    env: 'NACRE_AUDIT_KEY',
    flag: '--audit-key',
    description:
      'File with the key that signs audit records: Ed25519 in PEM, or a secret of 32 bytes or more.',
    unset: 'records are chained and not signed',
    path: true,
  }),
  auditKeepDays: z.int().min(1).max(36_500).default(400).meta({
    env: 'NACRE_AUDIT_KEEP_DAYS',
    flag: '--audit-keep-days',
    description: 'Days for which audit records are kept.',
  }),
  auditMaxBytes: z.int().min(1_048_576).max(1_099_511_627_776).default(1_073_741_824).meta({
    env: 'NACRE_AUDIT_MAX_BYTES',
    flag: '--audit-max-bytes',
    description: 'Bytes of audit records that are kept; the oldest days go first.',
  }),
  redactOutput: z.boolean().default(false).meta({
    env: 'NACRE_REDACT_OUTPUT',
    flag: '--redact-output',
    description: 'Whether secrets are hidden in what commands print, too.',
  }),
});
