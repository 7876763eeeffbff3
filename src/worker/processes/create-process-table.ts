import { existsSync } from 'node:fs';
import { createProcProcessTable } from './proc-process-table.ts';
import type { ProcessTable } from './process-table.ts';
import { createPsProcessTable } from './ps-process-table.ts';

/** The best process table that this machine offers. */
export function createProcessTable(): ProcessTable {
  return existsSync('/proc/self/stat') ? createProcProcessTable() : createPsProcessTable();
}
