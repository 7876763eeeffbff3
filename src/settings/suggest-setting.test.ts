import { expect, it } from 'vitest';
import { listSettings } from './define.ts';
import { s } from './schema.ts';
import { suggestSetting } from './suggest-setting.ts';

const settings = listSettings({
  allowedCommands: s
    .list(s.text())
    .default([])
    .meta({ env: 'ALLOWED_COMMANDS', flag: '--allow', description: 'x' }),
  httpPort: s.int().min(0).max(9).default(0).meta({ env: 'NACRE_PORT', flag: '--port', description: 'x' }),
});
const inFile = (name: string) => suggestSetting(name, settings, ({ key }) => key);

it('suggests the name that a setting has here, for its name elsewhere', () => {
  for (const name of ['allow', '--allow', 'ALLOWED_COMMANDS', 'allowedCommands'])
    expect(inFile(name)).toBe(' Did you mean allowed_commands?');
  expect(inFile('port')).toBe(' Did you mean http_port?');
  expect(suggestSetting('http_port', settings, ({ name }) => name)).toBe(' Did you mean httpPort?');
});

it('suggests the setting whose name or flag is spelled alike', () => {
  expect(inFile('alowed_commands')).toBe(' Did you mean allowed_commands?');
  expect(inFile('alow')).toBe(' Did you mean allowed_commands?');
  expect(inFile('colour')).toBe('');
});
