// Writes the tools of every family, with the default settings, as data: `nacre mcp` answers `tools/list` from it before it
// loads the code of the tools. `build.mjs` bundles and runs this.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assembleTools } from '../src/assembly/assemble-tools.ts';
import { type ListedFamily, listedFile, listedKey } from '../src/assembly/create-greeting.ts';
import { allSettings } from '../src/rules/all-settings.ts';
import { fixedSettings } from '../src/rules/live-settings.ts';
import { resolveCandidates } from '../src/settings/resolve-candidates.ts';
import type { Tool } from '../src/tools/common/tool.ts';
import { toolFamilies } from '../src/tools/settings.ts';

const [folder = ''] = process.argv.slice(2);
for (const family of toolFamilies) {
  const usual = resolveCandidates({}, allSettings);
  const resolved = { ...usual, values: { ...usual.values, tools: [family] } };
  const openEngine = () => Promise.reject(new Error('A list of tools needs no engine.'));
  const offered = assembleTools({ settings: fixedSettings(resolved), openEngine, cwd: '/' });
  for (const patience of ['usual', 'long'] as const) {
    const tools = offered.list(patience).map(toListed);
    const listed: ListedFamily = { key: listedKey(family, resolved, patience), tools };
    writeFileSync(join(folder, listedFile(family, patience)), JSON.stringify(listed));
  }
}

function toListed({ call: _call, inputSchema, outputSchema, ...tool }: Tool) {
  return { ...tool, inputSchema: inputSchema(), outputSchema: outputSchema() };
}
