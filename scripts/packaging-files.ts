import { mcpbManifest } from './mcpb-manifest.ts';
import { serverJson } from './server-json.ts';

/** What clients and registries read of nacre before they start it, by path from the project's root. */
export const packagingFiles: ReadonlyMap<string, string> = new Map([
  ['server.json', toText(serverJson)],
  ['packaging/manifest.json', toText(mcpbManifest)],
]);

function toText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
