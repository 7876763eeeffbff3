import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

/** Settings of the audit log. */
export const auditSettings = defineSettings({
  auditDir: s.text().min(1).optional().meta({
    env: 'NACRE_AUDIT_DIR',
    flag: '--audit-dir',
    description: 'Folder of the audit log.',
    unset: 'audit in the state folder',
    path: true,
  }),
  auditFsync: s.choice(['interval', 'always']).default('interval').meta({
    env: 'NACRE_AUDIT_FSYNC',
    flag: '--audit-fsync',
    description:
      'When audit records are synced to disk: about once a second, or each one before its command runs.',
    project: 'stricter',
  }),
  auditKey: s.text().min(1).optional().meta({
    env: 'NACRE_AUDIT_KEY',
    flag: '--audit-key',
    description:
      'File with the key that signs audit records: Ed25519 in PEM, or a secret of at least 32 bytes.',
    unset: 'records are chained but not signed',
    path: true,
  }),
  auditKeepDays: s.int().min(1).max(36_500).default(400).meta({
    env: 'NACRE_AUDIT_KEEP_DAYS',
    flag: '--audit-keep-days',
    description: 'Days for which audit records are kept.',
  }),
  auditMaxBytes: s.int().min(1_048_576).max(1_099_511_627_776).default(1_073_741_824).meta({
    env: 'NACRE_AUDIT_MAX_BYTES',
    flag: '--audit-max-bytes',
    description: 'Bytes of audit records to keep; the oldest days are removed first.',
  }),
  redactOutput: s.boolean().default(false).meta({
    env: 'NACRE_REDACT_OUTPUT',
    flag: '--redact-output',
    description: 'Whether secrets are also redacted in command output.',
  }),
});
