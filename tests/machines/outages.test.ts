// Machines over real ssh lose their network and their power, and servers are killed, while commands run. NACRE_ROUNDS=50 is the whole loop.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sleep } from '../support/nacre.ts';
import { createOutliveHome, type OutliveClient } from '../support/outlive.ts';
import { startHosts, type TestHosts, whyNoHosts } from './hosts/start-ssh.ts';

const reason = whyNoHosts();
const rounds = Number(process.env.NACRE_ROUNDS ?? 5);
const indexes = [1, 2, 3] as const;
const lines = 200;
const allLines = Array.from({ length: lines }, (_, at) => `line ${at + 1}\n`).join('');

let hosts: TestHosts;
beforeAll(() => {
  if (reason === undefined) hosts = startHosts(3);
});
afterAll(() => hosts?.stop());

interface Round {
  readonly number: number;
  readonly victim: number;
  readonly fault: 'cut' | 'off' | 'kill' | 'cut and kill' | 'long cut';
}

const faults: readonly Round['fault'][] = ['cut', 'off', 'kill', 'cut and kill', 'long cut'];
const toRound = (number: number): Round => ({
  ...{ number, victim: (number % indexes.length) + 1, fault: faults[number % faults.length] ?? 'cut' },
});

const startCounter = async (client: OutliveClient, { number }: Round, index: number) => {
  const command = `for i in $(seq ${lines}); do echo line $i; sleep 0.01; done; exit ${10 + (number % 100)}`;
  const { structured, text } = await client.use('start_command', { command, on: `h${index}`, wait_ms: 0 });
  expect(structured.command_id, text).toBeDefined();
  return String(structured.command_id);
};

/** Runs short commands on a machine until `isOver`; returns the wrong results. An error is not wrong, because it claims nothing. */
const runShort = async (client: OutliveClient, round: Round, place: string, isOver: () => boolean) => {
  const wrong: unknown[] = [];
  for (let count = 0; !isOver(); count += 1) {
    const mark = `r${round.number}${place}n${count}`;
    const command = `echo ${mark} | tee -a ran; exit 3`;
    const { structured } = await client.use('execute_command', {
      command,
      on: place.slice(0, 2),
      timeout_ms: 20_000,
    });
    const { exit_code: code, stdout, status } = structured;
    if (status === 'failed' && (code !== 3 || stdout !== `${mark}\n`)) wrong.push(structured);
    if (status === 'completed') wrong.push(structured);
  }
  return wrong;
};

// After an error, or if the server was killed, the next turn reads from the same place.
const readCounter = async (clientNow: () => OutliveClient, id: string) => {
  let [text, cursor, last] = ['', 0, ''];
  for (let turn = 0; turn < 100; turn += 1) {
    const query = { command_id: id, cursor, wait_ms: 10_000, max_output_chars: 100_000 };
    const reply = await clientNow()
      .use('read_output', query)
      .catch((error: unknown) => ({ structured: {}, text: String(error) }));
    const {
      status,
      exit_code: code = null,
      stdout,
      cursor: next,
    } = reply.structured as Record<string, unknown>;
    if (status === undefined) {
      last = reply.text;
      await sleep(300);
      continue;
    }
    text += String(stdout ?? '');
    cursor = Number(next);
    if (status !== 'running' && status !== 'unreachable') return { text, status, code };
  }
  return { text, status: `endless: ${last}`, code: null };
};

test.skipIf(reason !== undefined)(
  `${rounds} rounds of outages lose and repeat no output, report no wrong exit code and leave no process${reason ? ` (${reason})` : ''}`,
  { timeout: 120_000 * (rounds + 1) },
  async () => {
    const entry = (index: number) => `  h${index}: { ssh: h${index}, ssh_config: ${hosts.config} }\n`;
    const userFile = `danger: off\nmachines:\n${indexes.map(entry).join('')}`;
    const home = createOutliveHome({ userFile });
    let client = await home.open();

    const applyFault = async ({ victim, fault }: Round) => {
      const begins = fault === 'off' ? 'off' : 'cut';
      if (fault !== 'kill') hosts.change(begins, victim);
      await sleep(fault === 'long cut' ? 20_000 : 1_500);
      if (fault === 'kill' || fault === 'cut and kill') {
        await client.kill();
        client = await home.open();
      }
      if (fault !== 'kill') hosts.change(begins === 'off' ? 'on' : 'heal', victim);
    };

    for (const round of Array.from({ length: rounds }, (_, number) => toRound(number))) {
      const title = JSON.stringify(round);
      const first = client;
      const counters = await Promise.all(indexes.map((index) => startCounter(first, round, index)));
      let isOver = false;
      const short = indexes.flatMap((index) =>
        ['a', 'b'].map((one) => runShort(first, round, `h${index}${one}`, () => isOver).catch(() => [])),
      );
      const reading = counters.map((id) => readCounter(() => client, id));
      await applyFault(round);
      isOver = true;
      for (const [at, { text, status, code }] of (await Promise.all(reading)).entries()) {
        if (round.fault === 'off' && at + 1 === round.victim && status === 'lost') {
          expect(code, title).toBeNull();
          expect(allLines.startsWith(text), title).toBe(true);
        } else
          expect({ text, status, code }, title).toEqual({
            text: allLines,
            status: 'failed',
            code: 10 + (round.number % 100),
          });
      }
      expect((await Promise.all(short)).flat(), title).toEqual([]);
      for (const index of indexes) {
        const twice = await client.use('execute_command', { command: 'sort ran | uniq -d', on: `h${index}` });
        expect(twice.structured, title).toMatchObject({ stdout: '', exit_code: 0 });
      }
    }
    await client.leave();
    for (const index of indexes)
      await expect.poll(() => hosts.processes(index), { timeout: 90_000 }).toEqual([]);
    await expect.poll(home.processes, { timeout: 30_000 }).toEqual([]);
  },
);
