import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { packagingFiles } from '../../scripts/packaging-files.ts';
import { serverJson } from '../../scripts/server-json.ts';
import { allSettings } from '../../src/rules/all-settings.ts';
import { listSettings } from '../../src/settings/define.ts';
import { connect } from '../support/mcp.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

// A JSON Schema for the parts of the registry's `server.json` format that we use.
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const rules = {
  type: 'object',
  additionalProperties: false,
  required: ['$schema', 'name', 'description', 'version', 'packages'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    title: text(100),
    description: text(100),
    version: { type: 'string', maxLength: 255, pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' },
    packages: { type: 'array', minItems: 1, items: { $ref: '#/$defs/package' } },
  },
  $defs: {
    package: {
      type: 'object',
      additionalProperties: false,
      required: ['registryType', 'identifier', 'version', 'transport', 'runtimeHint'],
      properties: {
        registryType: { const: 'npm' },
        registryBaseUrl: { const: 'https://registry.npmjs.org' },
        identifier: text(214),
        version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' },
        runtimeHint: { const: 'npx' },
        transport: { type: 'object', additionalProperties: false, properties: { type: { const: 'stdio' } } },
        packageArguments: { type: 'array', items: { $ref: '#/$defs/positional' } },
        environmentVariables: { type: 'array', items: { $ref: '#/$defs/variable' } },
      },
    },
    positional: {
      type: 'object',
      additionalProperties: false,
      required: ['type', 'value'],
      properties: { type: { const: 'positional' }, value: text(100) },
    },
    variable: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'description'],
      properties: {
        name: text(100),
        description: text(300),
        isRequired: { type: 'boolean' },
        default: { type: 'string' },
        choices: { type: 'array', items: { type: 'string' } },
      },
    },
  },
};
const [entry] = serverJson.packages;

test.each([...packagingFiles])('%s is up to date (npm run docs)', (path, expected) => {
  expect(readFileSync(path, 'utf8')).toBe(expected);
});

test("server.json matches the registry's format", () => {
  const ajv = new Ajv2020();
  expect(ajv.validate(rules, serverJson), ajv.errorsText()).toBe(true);
  expect(ajv.validate(rules, { ...serverJson, description: 'x'.repeat(101) })).toBe(false);
});

test('package.json and server.json have the same name and version', () => {
  expect(manifest.mcpName).toBe(serverJson.name);
  expect(entry).toMatchObject({ identifier: manifest.name, version: manifest.version });
  expect(serverJson.version).toBe(manifest.version);
});

test('a client that follows server.json gets a server', async () => {
  const known = listSettings(allSettings).flatMap(({ env }) => env);
  expect(known).toEqual(expect.arrayContaining(entry?.environmentVariables.map(({ name }) => name) ?? []));
  expect(entry?.packageArguments.map(({ value }) => value)).toEqual(['mcp']);
  const chosen = entry?.environmentVariables.flatMap((one) =>
    'default' in one ? [[one.name ?? '', String(one.default)]] : [],
  );
  const server = await connect({ env: { ...Object.fromEntries(chosen ?? []), ALLOWED_COMMANDS: 'echo' } });
  try {
    expect((await server.use('execute_command', { command: 'echo here' })).structured).toMatchObject({
      stdout: 'here\n',
    });
  } finally {
    await server.close();
  }
});
