import manifest from '../package.json' with { type: 'json' };
import { allSettings } from '../src/rules/all-settings.ts';
import { inspectSetting } from '../src/settings/define.ts';
import { describeDefault } from '../src/settings/describe.ts';

/** The settings that clients ask for at installation; only the first is required. */
const prompted = ['allowedCommands', 'allowedCwdRoots', 'tools', 'sandbox'] as const;

/** The entry in the MCP registry: how clients install and start the package. */
export const serverJson = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: manifest.mcpName,
  title: manifest.name,
  description: manifest.description,
  version: manifest.version,
  packages: [
    {
      registryType: 'npm',
      registryBaseUrl: 'https://registry.npmjs.org',
      identifier: manifest.name,
      version: manifest.version,
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      packageArguments: [{ type: 'positional', value: 'mcp' }],
      environmentVariables: prompted.map((name, index) => toVariable(name, index === 0)),
    },
  ],
};

function toVariable(name: (typeof prompted)[number], isRequired: boolean) {
  const setting = inspectSetting(name, allSettings[name]);
  const { kind } = setting;
  return {
    name: setting.env[0],
    description: isRequired
      ? setting.description
      : `${setting.description} If unset: ${describeDefault(setting)}.`,
    isRequired,
    ...(kind.type === 'choice' && { default: describeDefault(setting), choices: kind.options }),
  };
}
