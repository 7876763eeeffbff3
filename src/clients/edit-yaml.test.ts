import { describe, expect, it } from 'vitest';
import { getYamlItem, removeYamlItem, setYamlItem } from './edit-yaml.ts';

const text = `name: mine # my own
mcpServers:
  # keep me
  - name: other
    command: uvx # and me
models: []
`;

describe('an item of a list in YAML', () => {
  it('is added without changing anything else, and removed again', () => {
    const added = setYamlItem(text, 'mcpServers', 'nacre', {
      command: 'node',
      args: ['a b', 'mcp'],
      env: {},
    });
    expect(added).toBe(
      text.replace(
        '# and me\n',
        `# and me\n  - { name: nacre, command: node, args: [a b, mcp], env: {  } }\n`,
      ),
    );
    expect(getYamlItem(added, 'mcpServers', 'nacre')).toMatchObject({ command: 'node' });
    expect(removeYamlItem(added, 'mcpServers', 'nacre')).toBe(text);
  });

  it('keeps its other values when it is set again, and an equal item is not changed', () => {
    const added = setYamlItem('', 'mcpServers', 'nacre', { command: 'a' }).replace(' }', ', cwd: /srv }');
    const again = setYamlItem(added, 'mcpServers', 'nacre', { command: 'b' });
    expect(getYamlItem(again, 'mcpServers', 'nacre')).toEqual({ name: 'nacre', command: 'b', cwd: '/srv' });
    expect(setYamlItem(again, 'mcpServers', 'nacre', { command: 'b' })).toBe(again);
  });

  it.each([
    ['mcpServers: {a: 1}\n', 'mcpServers is not a list'],
    ['mcpServers: [\n', 'Flow sequence'],
    ['- a\n', 'not a map'],
    ['just text\n', 'not a map'],
    ['mcpServers:\n  - {name: nacre}\n  - {name: nacre}\n', 'two items'],
  ])('is refused in %j', (broken, message) => {
    expect(() => setYamlItem(broken, 'mcpServers', 'nacre', { command: 'a' })).toThrow(message);
  });
});
