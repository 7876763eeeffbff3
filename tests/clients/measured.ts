import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bytes of each standard result, as a model reads it. */
export type Measured = Readonly<Record<string, number>>;

const folder = fileURLToPath(new URL('measured', import.meta.url));

/** Writes the bytes of a client's results for the table in docs/clients.md, in a run with `--record`. */
export function recordResults(client: string, measured: Measured): void {
  if (process.env.NACRE_RECORD_CLIENTS !== '1') return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${client}.json`), `${JSON.stringify(measured, null, 2)}\n`);
}

/** The bytes that were measured last; undefined if the client was not measured. */
export function readMeasured(client: string): Measured | undefined {
  const file = join(folder, `${client}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
