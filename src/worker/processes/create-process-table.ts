import { existsSync } from 'node:fs';
import { createProcProcessTable } from './proc-process-table.ts';
import type { ProcessTable } from './process-table.ts';
import { createPsProcessTable } from './ps-process-table.ts';

/** Makes the table that reads /proc if there is one, else the table that runs `ps`. */
export function createProcessTable(): ProcessTable {
  return existsSync('/proc/self/stat') ? createProcProcessTable() : createPsProcessTable();
}
