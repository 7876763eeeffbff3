import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtCli } from '../support/build.ts';
import { commandLine, processesWith } from '../support/processes.ts';
import type { RunningClient } from './run-client.ts';
import { setStage, startOn, until } from './run-loop.ts';

const command = 'echo > running; sleep 4321';

/** Declares that a client which a signal ends leaves no process of nacre, nor of its commands. */
export function testSignals(name: string): void {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('leaves nothing after %s', async (signal) => {
    const stage = await setStage(name, [{ tool: 'execute_command', args: { command, timeout_ms: 600_000 } }]);
    const client = startOn(name, stage);
    try {
      const running = join(stage.place.project, 'running');
      await until(
        () => existsSync(running),
        () => `${name} has not run the command: ${client.output()}`,
      );
      expect(findOurs(stage.place.home).length).toBeGreaterThan(0);
      await end(client, signal);
      const left = () => findOurs(stage.place.home).map(commandLine);
      await until(
        () => left().length === 0,
        () => `left running: ${left().join('\n')}`,
      );
    } finally {
      client.process.kill('SIGKILL');
      await client.ended;
      await stage.model.close();
    }
  });
}

// A client may treat the first SIGINT or SIGTERM as a request to stop its turn, and the second one as the end.
async function end({ process, ended, output }: RunningClient, signal: NodeJS.Signals): Promise<void> {
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  process.kill(signal);
  const second = setTimeout(() => process.kill(signal), 5_000);
  await until(
    () => isOver,
    () => `${signal} did not end the client: ${output()}`,
  );
  clearTimeout(second);
}

/** The processes of nacre and its commands; the home directory of a place is in their environment. */
function findOurs(home: string): readonly number[] {
  return processesWith(home).filter((pid) => {
    const line = commandLine(pid);
    return line.includes(builtCli) || line.includes('sleep\x004321') || line.includes('bwrap');
  });
}
