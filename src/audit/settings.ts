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
});
