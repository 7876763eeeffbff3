import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, test } from 'vitest';
import { mcpbManifest } from '../../scripts/mcpb-manifest.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const unpacked = join(folder, 'unpacked');
const home = join(folder, 'home');
mkdirSync(home);
const bundle = execFileSync(process.execPath, [resolve('scripts/bundle-mcpb.mjs'), folder], {
  encoding: 'utf8',
}).trim();
// Python's zipfile checks that the archive of `write-zip.mjs` is valid.
execFileSync('python3', ['-m', 'zipfile', '-e', bundle, unpacked]);
const manifest = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A JSON Schema for the parts of the MCPB manifest specification 0.3 that we use.
const word = { type: 'string', minLength: 1 };
const rules = {
  type: 'object',
  additionalProperties: false,
  required: ['manifest_version', 'name', 'version', 'description', 'author', 'server'],
  properties: {
    manifest_version: { const: '0.3' },
    ...{ name: word, description: word, license: word, tools_generated: { type: 'boolean' } },
    version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' },
    author: { type: 'object', required: ['name'], additionalProperties: false, properties: { name: word } },
    keywords: { type: 'array', items: word },
    server: {
      type: 'object',
      additionalProperties: false,
      required: ['type', 'entry_point', 'mcp_config'],
      properties: {
        type: { const: 'node' },
        entry_point: word,
        mcp_config: {
          type: 'object',
          additionalProperties: false,
          required: ['command'],
          properties: {
            command: word,
            args: { type: 'array', items: word },
            env: { type: 'object', additionalProperties: word },
          },
        },
      },
    },
    tools: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: { name: word, description: word },
      },
    },
    compatibility: {
      type: 'object',
      additionalProperties: false,
      properties: {
        platforms: { type: 'array', items: { enum: ['darwin', 'win32', 'linux'] } },
        runtimes: { type: 'object', additionalProperties: false, properties: { node: word } },
      },
    },
    user_config: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'title', 'description'],
        properties: {
          type: { enum: ['string', 'number', 'boolean', 'directory', 'file'] },
          ...{ title: word, description: word, default: word, required: { type: 'boolean' } },
        },
      },
    },
  },
};

test("the bundle's manifest matches its specification", () => {
  const ajv = new Ajv2020();
  expect(ajv.validate(rules, manifest), ajv.errorsText()).toBe(true);
  expect(ajv.validate(rules, { ...manifest, server: { type: 'node' } })).toBe(false);
  expect(manifest).toEqual(mcpbManifest);
});

test('the files that it names exist, and every user_config variable is declared', () => {
  expect(existsSync(join(unpacked, manifest.server.entry_point))).toBe(true);
  for (const file of ['LICENSE', 'package.json', 'dist/THIRD_PARTY_NOTICES.md'])
    expect(existsSync(join(unpacked, file)), file).toBe(true);
  const used = [...JSON.stringify(manifest.server).matchAll(/\$\{user_config\.(\w+)\}/g)].map(
    ([, key]) => key,
  );
  expect([...new Set(used)].sort()).toEqual(Object.keys(manifest.user_config).sort());
  expect(statSync(bundle).size).toBeLessThan(1_600_000);
});

test('a client that unpacks it and uses every default gets the tools that it lists', async () => {
  const { command, args, env } = manifest.server.mcp_config;
  const client = new Client({ name: 'desktop', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: command === 'node' ? process.execPath : command,
      args: args.map(substitute),
      env: {
        PATH: '/usr/bin:/bin',
        HOME: home,
        ...Object.fromEntries(Object.entries(env).map(([k, v]) => [k, substitute(v)])),
      },
      cwd: '/',
      stderr: 'ignore',
    }),
  );
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(manifest.tools.map(({ name }: { name: string }) => name));
    const reply = await client.callTool({ name: 'execute_command', arguments: { command: 'ls -d "$PWD"' } });
    expect(reply.structuredContent).toMatchObject({ exit_code: 0, stdout: `${home}\n` });
  } finally {
    await client.close();
  }
});

/** Substitutes variables as a client does, with the default of each `user_config` value. */
function substitute(given: unknown): string {
  const asked = String(given).replace(
    /\$\{user_config\.(\w+)\}/g,
    (_, key) => manifest.user_config[key].default,
  );
  return asked.replaceAll('${__dirname}', unpacked).replaceAll('${HOME}', home);
}
