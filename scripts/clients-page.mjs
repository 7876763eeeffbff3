// Writes the tables in docs/clients.md from the sizes that `npm run test:clients -- --record` measured.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const page = 'docs/clients.md';
const folder = 'tests/clients/measured';
const start = '<!-- Sizes: written by npm run test:clients -- --record. -->';
const end = '<!-- End of sizes. -->';

/** Replaces the table of sizes in docs/clients.md. */
export function writeClientsPage() {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const clients = files.map((name) => ({
    name: basename(name, '.json'),
    bytes: JSON.parse(readFileSync(join(folder, name), 'utf8')),
  }));
  const steps = Object.keys(clients[0]?.bytes ?? {});
  const rows = clients.map(({ name, bytes }) => [`\`${name}\``, ...steps.map((step) => bytes[step] ?? '')]);
  const table = [['client', ...steps], ['---', ...steps.map(() => '---:')], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const text = readFileSync(page, 'utf8');
  const [before] = text.split(start);
  const [, after] = text.split(end);
  writeFileSync(page, `${before}${start}\n\n${table}\n\n${end}${after}`);
}
