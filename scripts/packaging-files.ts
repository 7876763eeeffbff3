import { toSearchingUnit } from '../src/doors/cli/unit/to-unit.ts';
import { mcpbManifest } from './mcpb-manifest.ts';
import { serverJson } from './server-json.ts';

/** Files that clients, registries and systemd read before they start nacre, by path from the project's root. */
export const packagingFiles: ReadonlyMap<string, string> = new Map([
  ['server.json', toText(serverJson)],
  ['packaging/manifest.json', toText(mcpbManifest)],
  ['packaging/nacre.service', toSearchingUnit()],
]);

function toText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
