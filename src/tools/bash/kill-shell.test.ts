import { expect, test } from 'vitest';
import type { AllowedCommands, ToolContext } from '../common/tool.ts';
import { killShell } from './kill-shell.ts';

const survivors = [{ pid: 4711, command: 'su -c sleep' }];

test.each([false, true])(
  'is a failure while a process of the shell survives (already stopped: %s)',
  async (hasEnded) => {
    const end = { survivors };
    const view = {
      command: { kind: 'shell', script: 'su' },
      state: { status: 'killed', durationMs: 5, end },
    };
    const listed = [{ ...view, id: 'shell_1', state: { ...view.state, end: hasEnded ? end : null } }];
    const commands = { list: async () => listed, stop: async () => view } as unknown as AllowedCommands;
    const reply = await killShell(commands).call({ shell_id: 'shell_1' }, {} as ToolContext);
    expect(reply).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Failed to kill shell: shell_1 .*su -c sleep \(pid 4711\)/),
      structured: { shell_id: 'shell_1', status: 'killed', still_running: ['su -c sleep (pid 4711)'] },
    });
  },
);

test('is a failure while a process of a closed session survives', async () => {
  const commands = { list: async () => [], closeSession: async () => ({ survivors }) };
  const context = { caller: { owner: 'one' } } as unknown as ToolContext;
  const reply = await killShell(commands as unknown as AllowedCommands).call({ shell_id: 'main' }, context);
  expect(reply).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^Failed to kill shell: main .*su -c sleep \(pid 4711\)/),
    structured: { shell_id: 'main', still_running: ['su -c sleep (pid 4711)'] },
  });
});
