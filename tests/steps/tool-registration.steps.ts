import { Ajv2020 } from 'ajv/dist/2020.js';
import { Given, Then, When } from 'quickpickle';
import { expect } from 'vitest';
import { registerExecutionTools, ToolRegistry, type VendorSchemas } from '../../src/index.ts';
import type { BashWorld } from './bash-world.ts';

Given('the OpenCode application initializes', (world: BashWorld) => {
  world.registry = new ToolRegistry();
});

Given('all execution tools are registered', (world: BashWorld) => {
  registerExecutionTools(world.registry);
});

When('I call register_execution_tools\\(registry)', (world: BashWorld) => {
  registerExecutionTools(world.registry);
});

When('I call get_all_schemas\\("openai")', (world: BashWorld) => {
  world.returned = world.registry.getAllSchemas('openai');
});

Then(/^the registry should contain "(\w+)" tool$/, (world: BashWorld, name: string) => {
  expect(world.registry.get(name)?.name).toBe(name);
});

Then('all tools should have category=EXECUTION', (world: BashWorld) => {
  expect(world.registry.list('execution')).toEqual(world.registry.list());
});

Then('each tool should have a valid OpenAI function schema', (world: BashWorld) => {
  const ajv = new Ajv2020();
  const schemas = schemasOf(world);
  expect(schemas.length).toBeGreaterThanOrEqual(3);
  for (const { type, function: fn } of schemas) {
    expect(type).toBe('function');
    expect(fn).toMatchObject({ name: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/), strict: true });
    expect(ajv.validateSchema(fn.parameters), ajv.errorsText()).toBe(true);
  }
});

Then(
  /^(\w+)Tool schema should include (\w+) as required$/,
  (world: BashWorld, name: string, field: string) => {
    const schema = schemasOf(world).find(({ function: fn }) => fn.name === name);
    expect(schema?.function.parameters.required).toContain(field);
  },
);

function schemasOf(world: BashWorld): VendorSchemas['openai'] {
  return world.returned as VendorSchemas['openai'];
}
