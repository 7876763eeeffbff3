import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bytes of each standard result, as a model reads it. */
export type Measured = Readonly<Record<string, number>>;

const folder = fileURLToPath(new URL('measured', import.meta.url));

/** Writes the screen on which a client asks its user, for docs/clients.md, in a run with `--record`. */
export function recordScreen(client: string, screen: string): void {
  if (process.env.NACRE_RECORD_CLIENTS !== '1') return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${client}.screen.txt`), screen);
}

/** Writes the bytes of a client's results for the table in docs/clients.md, in a run with `--record`. */
export function recordResults(client: string, measured: Measured): void {
  if (process.env.NACRE_RECORD_CLIENTS !== '1') return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${client}.json`), `${JSON.stringify(measured, null, 2)}\n`);
}
