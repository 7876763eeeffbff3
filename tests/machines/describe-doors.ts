import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { builtCli } from '../support/build.ts';
import { serve } from '../support/http.ts';
import { connect } from '../support/mcp.ts';
import { createPlace, type Place, runInProcess, surroundingsOf } from '../support/nacre.ts';
import { openSocket } from '../support/socket.ts';

/** A machine as users configure it. */
export interface DoorMachine {
  /** Its entry in `machines`, as YAML on one line. */
  readonly entry: string;
  /** A program with arguments that prints `expected` on that machine only. */
  readonly proof: readonly [string, ...string[]];
  readonly expected: string;
  /** Variables of the server. */
  readonly env?: Readonly<Record<string, string>>;
}

const toSettings = ({ entry }: DoorMachine) =>
  `allowed_commands: ['*']\ndanger: off\ntools: all\nmachines:\n  far: ${entry}\n`;

/** Runs commands on a machine through every door. `reason` is why that cannot be tested here. */
export function describeDoors(name: string, open: () => DoorMachine, reason?: string): void {
  describe.skipIf(reason !== undefined)(`${name} runs commands`, { timeout: 180_000 }, () => {
    test('of HTTP, WebSockets, the command line and workflows', async () => {
      const machine = open();
      const { proof, expected, env } = machine;
      const [program, ...args] = proof;
      const server = await serve({
        userFile: toSettings(machine),
        env: { SHELL_ALLOWLIST: program, ...env },
      });
      onTestFinished(async () => {
        expect(await server.close()).toEqual([]);
      });
      const posted = await server.shell(program, args, { on: 'far' });
      expect(posted.body).toMatchObject({ code: 0, stdout: expected });
      const socket = await openSocket(server.address, server.bearer);
      socket.send({ type: 'shell.run', id: 'a', command: program, args, on: 'far' });
      expect(await socket.exit('a')).toMatchObject({ code: 0 });
      expect(socket.text('a')).toBe(expected);
      await socket.close();
      await runAtTerminal(machine, server);
    });

    test('of agents, also in terminals and persistent shells, and records them with the machine', async () => {
      const machine = open();
      const { proof, expected, env } = machine;
      const server = await connect({ userFile: toSettings(machine), ...(env && { env }) });
      onTestFinished(async () => {
        expect(await server.close()).toEqual([]);
      });
      const on = 'far';
      const { structured } = await server.call({ command: proof.join(' '), on });
      expect(structured).toMatchObject({ exit_code: 0, stdout: expected });
      const size = { command: 'test -t 0 && stty size', on, pty: true, wait_ms: 20_000 };
      expect((await server.use('start_command', size)).text).toMatch(/\d+ \d+/);
      const cat = await server.use('start_command', { command: 'cat', on, name: 'cats', wait_ms: 0 });
      expect((await runInProcess(['ps'], server)).stdout).toMatch(/cats +far +running/);
      const input = { command_id: cat.structured.command_id, text: 'hello\n', wait_for: 'hello' };
      expect((await server.use('write_input', input)).structured).toMatchObject({ stdout: 'hello\n' });
      await server.use('Bash', { command: 'cd /; x=kept', on });
      expect((await server.use('Bash', { command: 'echo $x $PWD', on })).text).toContain('kept /');
      const records = readAudit(server);
      const started = records.filter(({ kind }) => kind === 'started');
      expect(started).toHaveLength(5);
      for (const record of started)
        expect(record).toMatchObject({ machine: 'far', worker: expect.stringMatching(/^worker-/) });
      const finished = records.find(({ kind }) => kind === 'finished');
      expect(finished).toMatchObject({ enforcement: { level: expect.any(String) } });
    });

    test('of programs', async () => {
      const { entry, proof, expected, env } = open();
      const { createNacre } = (await import(
        `${dirname(builtCli)}/index.js`
      )) as typeof import('../../src/index.ts');
      const machines = { far: parse(entry) };
      const nacre = await createNacre(
        { machines, allowedCommands: ['*'], loginEnv: 'never' },
        surroundingsOf(createPlace(env)),
      );
      onTestFinished(() => nacre.close());
      expect(await nacre.run(proof.join(' '), { on: 'far' })).toMatchObject({
        exitCode: 0,
        stdout: expected,
      });
    });
  });
}

async function runAtTerminal({ proof, expected }: DoorMachine, place: Place): Promise<void> {
  const command = proof.join(' ');
  const run = await runInProcess(['run', '--on', 'far', `${command}; exit 3`], place);
  expect(run).toMatchObject({ code: 3, stdout: expected });
  const check = await runInProcess(['machines', 'check', 'far'], place);
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('far is reachable.') });
  const file = join(place.cwd, 'flow.yaml');
  writeFileSync(file, `steps: [{ command: ${JSON.stringify(command)}, on: far }]\n`);
  const flow = await runInProcess(['workflow', file, '--json'], place);
  expect(flow).toMatchObject({ code: 0, stdout: expect.stringContaining(expected.trim()) });
}

function readAudit({ cwd }: Place): readonly Readonly<Record<string, unknown>>[] {
  const folder = join(cwd, '.local/state/nacre/audit');
  const files = readdirSync(folder).filter((name) => /^\d/.test(name));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  return lines.map((line) => JSON.parse(line));
}
