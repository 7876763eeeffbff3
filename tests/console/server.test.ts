import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type {
  AgentList,
  CommandCard,
  ConsoleMessage,
  NowReply,
  QuestionCard,
} from '../../src/contract/console.ts';
import { isType, openConsole, pageHeaders, signIn } from '../support/console.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';
import { sleep } from '../support/nacre.ts';

const userFile = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
tokens:
  - name: robot
    sha256: 02fbd9b84b5dd3ef0a0a5bd0a44b8b32e6a4c3f0e9ffa1c0b5d0f2a3a8f0e7b1
`;
const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*', NACRE_SANDBOX: 'workspace' };
let here: TestServer;
let agent: Awaited<ReturnType<typeof connect>>;
let operator: Record<string, string>;

beforeAll(async () => {
  here = await serve({ env: open, userFile });
  mkdirSync(join(here.cwd, 'project'));
  agent = await connect({ name: 'tester', env: { ...open, HOME: here.cwd }, args: [] });
  operator = pageHeaders(here, await signIn(here, { name: 'desk' }));
}, 300_000);
afterAll(async () => {
  await agent.close();
  expect(await here.close()).toEqual([]);
});

const project = () => join(here.cwd, 'project');
const get = async <Body>(path: string, headers = operator): Promise<Body> =>
  (await here.send(path, { headers })).body as Body;
const post = (path: string, body: object, headers = operator) =>
  here.send(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const records = () =>
  readdirSync(join(here.cwd, '.local/state/nacre/audit'))
    .filter((name) => /^\d/.test(name))
    .flatMap((name) =>
      readFileSync(join(here.cwd, '.local/state/nacre/audit', name), 'utf8')
        .trim()
        .split('\n'),
    )
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const cardOf = (messages: readonly ConsoleMessage[], isIt: (card: CommandCard) => boolean) =>
  messages.flatMap((one) => (one.type === 'live' ? one.cards : [])).findLast(isIt);
async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  limitMs = 60_000,
): Promise<T> {
  for (let waited = 0; waited < limitMs; waited += 20) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error('It did not happen in time.');
}

describe('the console sees every command', { timeout: 300_000 }, () => {
  test('of every door and server, while it runs and afterwards', async () => {
    const page = await openConsole(here, operator);
    page.send({ type: 'watch' });
    await page.until(isType('now'));
    const slow = here.shell('sleep', ['2'], { cwd: project() });
    const isSlow = (card: CommandCard) => card.command === 'sleep 2' && card.state === 'running';
    await eventually(() => cardOf(page.messages, isSlow));
    const remote = agent.call({ command: 'echo from-stdio; sleep 1', cwd: project() });
    const card = await eventually(() =>
      cardOf(page.messages, ({ command, state }) => command.includes('from-stdio') && state === 'running'),
    );
    expect(card).toMatchObject({
      cwd: project(),
      programs: expect.arrayContaining([{ name: 'echo', pos: 0, end: 4 }]),
    });
    await Promise.all([slow, remote]);
    const done = await eventually(() =>
      cardOf(page.messages, ({ id, state }) => id === card.id && state === 'completed'),
    );
    expect(done).toMatchObject({ exit_code: 0, stdout_bytes: 11 });
    const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?q=from-stdio');
    expect(commands).toMatchObject([{ id: card.id, state: 'completed' }]);
    const { agents } = await get<{ agents: { key: string; client: string }[] }>('/api/agents');
    expect(agents.map(({ client }) => client)).toEqual(expect.arrayContaining(['tester']));
    const session = await get<{ commands: CommandCard[] }>(`/api/agents/${encodeURIComponent(card.agent)}`);
    expect(session.commands.map(({ id }) => id)).toContain(card.id);
    await page.close();
  });

  test('an agent has its page also when 200 others were active after it', async () => {
    const own = await serve({ env: open });
    const read = async <Body>(path: string): Promise<Body> =>
      (await own.send(path, { headers: own.bearer })).body as Body;
    mkdirSync(join(own.cwd, '.local/state/nacre/audit'), { recursive: true });
    const day = new Date().toISOString();
    const file = join(own.cwd, '.local/state/nacre/audit', `${day.slice(0, 10)}_999998_0123456789ab.jsonl`);
    const lines = Array.from({ length: 201 }, (_, index) => {
      const head = {
        time: new Date(Date.now() + index).toISOString(),
        id: `cmd_many${String(index).padStart(8, '0')}`,
      };
      const record = {
        seq: index,
        ...head,
        kind: 'asked',
        door: 'mcp',
        client: 'many',
        connection: `mcp_many${index}`,
      };
      return `${JSON.stringify({ ...record, command: `echo ${index}` })}\n`;
    });
    appendFileSync(file, lines.join(''));
    const oldest = await eventually(async () => {
      const reply = await read<{ card?: CommandCard; agent?: { key: string } | null }>(
        '/api/commands/cmd_many00000000',
      );
      return reply.card && reply;
    });
    expect(oldest.agent?.key).toBe(oldest.card?.agent);
    expect(oldest.card?.agent).toContain('mcp_many0');
    const path = `/api/agents/${encodeURIComponent(oldest.card?.agent ?? '')}`;
    const { commands } = await read<{ commands: readonly CommandCard[] }>(path);
    expect(commands.map(({ command }) => command)).toEqual(['echo 0']);
    const first = await read<AgentList>('/api/agents');
    expect(first.agents).toHaveLength(200);
    expect(await read<AgentList>('/api/agents?after=')).toEqual(first);
    const rest = await read<AgentList>(`/api/agents?after=${encodeURIComponent(first.next ?? '')}`);
    expect(rest.next).toBe(null);
    expect(rest.agents.at(-1)?.key).toBe(oldest.card?.agent);
    expect(first.agents.length + rest.agents.length).toBe(first.total);
    expect(new Set([...first.agents, ...rest.agents].map(({ key }) => key)).size).toBe(first.total);
    expect(await own.close()).toEqual([]);
  });

  test('a command of this server is running also while no page is open', async () => {
    const own = await serve({ env: { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' } });
    const call = own.shell('sleep', ['3107']);
    const cards = async () =>
      ((await own.send('/api/commands?q=3107', { headers: own.bearer })).body as { commands: CommandCard[] })
        .commands;
    const card = await eventually(async () => (await cards()).find(({ started_at }) => started_at !== null));
    expect(card.state).toBe('running');
    await own.post(`/api/commands/${card.id}/stop`, {});
    await call;
    expect(await own.close()).toEqual([]);
  });

  test('a command is shown within 300 ms of its start, in the median of 11', async () => {
    const page = await openConsole(here, operator);
    page.send({ type: 'watch' });
    await page.until(isType('now'));
    const took: number[] = [];
    let wanted = '';
    page.socket.on('message', () => {
      const card = wanted && cardOf(page.messages, ({ command }) => command.includes(wanted));
      if (!card) return;
      took.push(Date.now() - Date.parse(card.started_at ?? card.asked_at));
      wanted = '';
    });
    for (let round = 1; round <= 11; round += 1) {
      wanted = `quick-${round};`;
      await agent.call({ command: `echo quick-${round}; sleep 0.5`, cwd: project() });
      await eventually(() => took[round - 1]);
    }
    expect(took.sort((a, b) => a - b)[5]).toBeLessThan(300);
    await page.close();
  });

  test('a command that begins does not wait for the spacing of other changes', async () => {
    const page = await openConsole(here, operator);
    page.send({ type: 'watch' });
    await page.until(isType('now'));
    // A server of which only the audit file is there.
    const day = new Date().toISOString().slice(0, 10);
    const file = join(here.cwd, '.local/state/nacre/audit', `${day}_999999_0123456789ab.jsonl`);
    const begin = (id: string) => {
      const head = { seq: 1, time: new Date().toISOString(), id, door: 'mcp', client: 'other' };
      appendFileSync(file, `${JSON.stringify({ ...head, kind: 'asked', command: `echo ${id}` })}\n`);
    };
    const took: number[] = [];
    for (let round = 0; round < 11; round += 1) {
      const before = performance.now();
      begin(`cmd_spaced${round}`);
      await eventually(() => cardOf(page.messages, ({ id }) => id === `cmd_spaced${round}`));
      took.push(performance.now() - before);
    }
    rmSync(file);
    // Each begins as soon as the one before is shown; other changes are sent every 250 ms.
    expect(took.sort((a, b) => a - b)[5]).toBeLessThan(240);
    await page.close();
  });

  test('a page that reconnects with its token gets each missed change once', async () => {
    const first = await openConsole(here, operator);
    first.send({ type: 'watch', records: true });
    const { token } = await first.until(isType('now'));
    await first.close();
    await here.shell('echo', ['missed-one'], { cwd: project() });
    const back = await openConsole(here, operator);
    back.send({ type: 'watch', records: true, after: token });
    const { records: rows } = await back.until(isType('records'));
    const asked = rows.filter(
      ({ kind, command }) => kind === 'asked' && JSON.stringify(command).includes('missed-one'),
    );
    expect(asked).toHaveLength(1);
    await back.close();
    const odd = await openConsole(here, operator);
    odd.send({ type: 'watch', after: 'not-a-token' });
    await odd.until(isType('reset'));
    odd.send({ type: 'nothing' });
    expect(await odd.until(isType('error'))).toMatchObject({ error: expect.stringContaining('type') });
    await odd.close();
  });
});

describe('observers', { timeout: 300_000 }, () => {
  test('of a command in another server get every byte once, with times and streams', async () => {
    const page = await openConsole(here, operator);
    const call = agent.call({
      command: 'for i in 1 2 3 4 5; do echo line-$i; sleep 0.2; done; echo oops >&2',
      cwd: project(),
    });
    const { id } = await eventually(async () => {
      const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?q=line-');
      return commands.find(({ state }) => state === 'running' || state === 'completed');
    });
    page.send({ type: 'open', channel: 1, command: id, from: 0, mode: 'all' });
    await page.until(isType('end'));
    await call;
    expect(page.text(1)).toBe('line-1\nline-2\nline-3\nline-4\nline-5\noops\n');
    expect(page.frames.at(-1)).toMatchObject({ stream: 2, cursor: 40 });
    const times = page.frames.map(({ ms }) => ms);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(500);
    expect(records().filter((one) => one.kind === 'viewed' && one.id === id)).toMatchObject([
      { door: 'http', client: 'page desk' },
    ]);
    await page.close();
  });

  test('a slow one skips to the end and says which bytes it left out; the command is not slowed', async () => {
    const slow = await openConsole(here, operator, { acks: false });
    const call = agent.call({
      command: 'head -c 8000000 /dev/zero | tr "\\0" x; sleep 0.1; echo; echo last',
      cwd: project(),
    });
    const { id } = await eventually(async () => {
      const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?program=head');
      return commands[0];
    });
    await call;
    slow.send({ type: 'open', channel: 7, command: id, from: 0, mode: 'tail' });
    const { from, to } = await slow.until(isType('skipped'));
    expect(from).toBe(0);
    await slow.until(isType('end'));
    expect(slow.text(7)).toHaveLength(8_000_006 - to);
    expect(slow.text(7).endsWith('\nlast\n')).toBe(true);
    await slow.close();
    const all = await openConsole(here, operator, { acks: false });
    all.send({ type: 'open', channel: 7, command: id, from: 0, mode: 'all' });
    await eventually(() => (all.frames.length > 3 ? true : undefined));
    await sleep(300);
    // Without an acknowledgement at most the window and one piece are sent.
    expect(all.text(7).length).toBeLessThanOrEqual(1_048_576 + 262_144);
    await all.close();
    const reply = await fetch(`${here.address}/api/commands/${id}/output?from=8000000`, {
      headers: here.bearer,
    });
    expect(await reply.text()).toBe('\nlast\n');
    expect(reply.headers.get('nacre-end')).toBe('8000006');
    const whole = await fetch(`${here.address}/api/commands/${id}/output?download`, { headers: here.bearer });
    expect(await whole.text()).toHaveLength(8_000_006);
  });

  test('an observer of a part sends `end` after its last byte', async () => {
    await here.shell('printf', ['%s', 'x'.repeat(1_000)], { cwd: project() });
    const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?q=printf');
    const page = await openConsole(here, operator);
    page.send({ type: 'open', channel: 1, command: commands[0]?.id, from: 100, to: 350, mode: 'all' });
    expect(await page.until(isType('end'))).toMatchObject({ channel: 1, cursor: 350 });
    expect(page.text(1)).toHaveLength(250);
    await page.close();
  });

  test('it is downloaded as bytes, as text without sequences, or as a recording with its times', async () => {
    const script = "printf '\\033[31mred\\033[0m\\n10 %%\\r20 %%\\n'; sleep 1; echo late";
    const started = await agent.use('start_command', { command: `${script}; sleep 3050`, cwd: project() });
    const id = String(started.structured.command_id);
    const load = async (form: string) => {
      const reply = await fetch(`${here.address}/api/commands/${id}/output?download=${form}`, {
        headers: here.bearer,
      });
      return { name: reply.headers.get('content-disposition'), text: await reply.text() };
    };
    await eventually(async () => ((await load('text')).text.includes('late') ? true : undefined));
    expect(await load('raw')).toEqual({
      name: `attachment; filename="${id}.log"`,
      text: '\u001b[31mred\u001b[0m\n10 %\r20 %\nlate\n',
    });
    expect(await load('text')).toEqual({
      name: `attachment; filename="${id}.txt"`,
      text: 'red\n20 %\nlate\n',
    });
    const cast = await load('cast');
    expect(cast.name).toBe(`attachment; filename="${id}.cast"`);
    const [header, ...events] = cast.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({ version: 3 });
    expect(events.map(([, code, data]) => [code, data]).at(-1)).toEqual(['o', 'late\r\n']);
    expect(events.at(-1)[0]).toBeGreaterThan(0.8);
    const bad = await here.send(`/api/commands/${id}/output?download=pdf`, { headers: here.bearer });
    expect(bad).toMatchObject({ status: 400, body: { error: expect.stringContaining('raw, text or cast') } });
    await post(`/api/commands/${id}/stop`, {});
  });

  test('50 of them see the same bytes', async () => {
    const rows = 'for i in $(seq 1 200); do echo "row $i"; sleep 0.005; done';
    const call = here.shell('bash', ['-c', rows], { cwd: project() });
    const { id } = await eventually(async () => {
      const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?q=seq');
      return commands[0];
    });
    const pages = await Promise.all([1, 2].map(() => openConsole(here, operator)));
    for (const page of pages)
      for (let channel = 0; channel < 25; channel += 1)
        page.send({ type: 'open', channel, command: id, from: 0, mode: 'all' });
    const wanted = Array.from({ length: 200 }, (_, index) => `row ${index + 1}\n`).join('');
    await call;
    for (const page of pages) {
      await eventually(() => (page.messages.filter(isType('end')).length === 25 ? true : undefined));
      for (let channel = 0; channel < 25; channel += 1) expect(page.text(channel)).toBe(wanted);
      await page.close();
    }
  });
});

describe('pages', { timeout: 300_000 }, () => {
  test('64 can be open; the next one gets the reason why it has to wait', async () => {
    const pages = await Promise.all(Array.from({ length: 64 }, () => openConsole(here, operator)));
    const late = new WebSocket(`${here.address.replace('http', 'ws')}/api/console`, { headers: operator });
    const [code, reason] = await once(late, 'close');
    expect([code, String(reason)]).toEqual([1_013, '64 pages are open; close one of them.']);
    await pages[0]?.close();
    const next = await openConsole(here, operator);
    next.send({ type: 'watch' });
    await next.until(isType('now'));
    for (const page of [...pages.slice(1), next]) await page.close();
  });
});

describe('approvals', { timeout: 300_000 }, () => {
  const waiting = (script: string) =>
    eventually(async () => {
      const { questions } = await get<{ questions: QuestionCard[] }>('/api/approvals');
      return questions.find(({ asked }) => asked.command === script);
    });

  test('the waiting call gets the answer and the note, and the page is recorded', async () => {
    const page = await openConsole(here, operator);
    page.send({ type: 'watch' });
    // A server that the page lists knows that a person looks.
    const hasAgent = (one: ConsoleMessage) =>
      (one.type === 'now' ? one.now.servers : one.type === 'live' ? one.change.servers : [])?.some(
        ({ pid }) => pid === agent.pid,
      );
    await eventually(() => page.messages.find(hasAgent));
    const call = agent.call({ command: 'touch made-a', cwd: project() });
    const question = await waiting('touch made-a');
    await eventually(() =>
      page.messages
        .flatMap((one) => (one.type === 'live' ? (one.change.questions ?? []) : []))
        .find(({ id }) => id === question.id),
    );
    expect(question).toMatchObject({ reason: expect.stringContaining('with care'), client: 'tester' });
    const other = { answer: 'approved', digest: '0'.repeat(64) };
    expect((await post(`/api/approvals/${question.id}`, other)).status).toBe(400);
    expect((await post(`/api/approvals/${question.id}`, { answer: 'approved' })).status).toBe(400);
    const { digest } = question;
    const answered = await post(`/api/approvals/${question.id}`, {
      answer: 'approved',
      digest,
      note: 'Only this once.',
    });
    expect(answered.status).toBe(200);
    const reply = await call;
    expect(reply.structured).toMatchObject({ exit_code: 0 });
    expect(reply.text).toContain('Only this once.');
    expect(records().filter(({ kind }) => kind === 'approved')[0]).toMatchObject({
      by: 'the page desk',
      note: 'Only this once.',
    });
    const declined = agent.call({ command: 'touch made-b', cwd: project() });
    const second = await waiting('touch made-b');
    await post(`/api/approvals/${second.id}`, {
      answer: 'declined',
      digest: second.digest,
      note: 'Use mkdir here.',
    });
    const refusal = await declined;
    expect(refusal.isError).toBe(true);
    expect(refusal.text).toContain('The user declined: Use mkdir here.');
    await page.close();
  });
});

describe('a viewer', { timeout: 300_000 }, () => {
  test('can read everything and change nothing', async () => {
    const viewer = pageHeaders(here, await signIn(here, { role: 'viewer', name: 'wall' }));
    const now = await get<NowReply>('/api/now', viewer);
    expect(now.page).toEqual({ role: 'viewer', name: 'wall' });
    for (const path of [
      '/api/commands',
      '/api/agents',
      '/api/approvals',
      '/api/audit',
      '/api/server',
      '/api/series',
    ])
      expect((await here.send(path, { headers: viewer })).status, path).toBe(200);
    const acts: [string, object][] = [
      ['/api/shell', { command: 'true' }],
      ['/api/tools/execute_command', { command: 'true' }],
      ['/api/link', {}],
      ['/api/pause', { paused: true }],
      ['/api/approvals/apr_1', { answer: 'approved', digest: '0'.repeat(64) }],
      ['/api/commands/cmd_1/stop', {}],
      ['/api/commands/cmd_1/type', { text: 'x' }],
      ['/mcp', {}],
    ];
    for (const [path, body] of acts) expect((await post(path, body, viewer)).status, path).toBe(403);
    const watching = await openConsole(here, viewer);
    watching.send({ type: 'watch' });
    expect((await watching.until(isType('now'))).now.page.role).toBe('viewer');
    await watching.close();
  });
});

describe('an operator', { timeout: 300_000 }, () => {
  test('stops a command of another server, and the record names the page', async () => {
    const call = agent.call({ command: 'sleep 61', cwd: project() });
    const { id } = await eventually(async () => {
      const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?q=sleep+61');
      return commands.find(({ state }) => state === 'running');
    });
    const { body } = await here.send(`/api/series?command=${id}`, { headers: operator });
    expect(body).toMatchObject({ every_ms: 1_000 });
    expect((await post(`/api/commands/${id}/stop`, {})).status).toBe(200);
    await call;
    await eventually(async () => {
      const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?outcome=killed');
      return commands.find((one) => one.id === id);
    });
    expect(records().find((one) => one.kind === 'stop' && one.id === id)).toMatchObject({
      client: 'page desk',
    });
    const {
      card,
      records: own,
      output,
    } = await get<{
      card: CommandCard;
      records: { kind: string }[];
      output: string;
    }>(`/api/commands/${id}`);
    expect(card).toMatchObject({ state: 'killed', acts: [{ kind: 'stop', by: 'page desk' }] });
    expect(own.map(({ kind }) => kind)).toEqual(['asked', 'decided', 'started', 'stop', 'finished']);
    expect(output).toBe('live');
  });

  test('reads the records, verifies them, and signs out', async () => {
    const { records: newest } = await get<{ records: { time: string; kind: string }[] }>(
      '/api/audit?limit=50',
    );
    expect(newest.length).toBeGreaterThan(20);
    expect(newest.map(({ time }) => time)).toEqual(
      newest
        .map(({ time }) => time)
        .toSorted()
        .toReversed(),
    );
    const only = await get<{ records: { kind: string }[] }>('/api/audit?kind=approved');
    expect(new Set(only.records.map(({ kind }) => kind))).toEqual(new Set(['approved']));
    expect(await get('/api/audit/verify')).toMatchObject({ problems: [] });
    const lines = await (
      await fetch(`${here.address}/api/audit/export?kind=stop`, { headers: operator })
    ).text();
    expect(JSON.parse(lines.split('\n')[0] ?? '')).toMatchObject({ kind: 'stop' });
    const leaving = pageHeaders(here, await signIn(here));
    expect((await here.send('/api/session', { method: 'DELETE', headers: leaving })).status).toBe(204);
    expect((await here.send('/api/now', { headers: leaving })).status).toBe(401);
  });

  test('leaves a record of each act, with the name of its page', async () => {
    const ledger = pageHeaders(here, await signIn(here, { name: 'ledger' }));
    await here.shell('echo', ['to-load'], { cwd: project() });
    const { commands } = await get<{ commands: CommandCard[] }>('/api/commands?q=to-load');
    await fetch(`${here.address}/api/commands/${commands[0]?.id}/output?download`, { headers: ledger });
    await post('/api/link', { role: 'viewer', name: 'guest' }, ledger);
    for (const paused of [true, false])
      expect((await post('/api/pause', { paused }, ledger)).status, String(paused)).toBe(200);
    await here.send('/api/session', { method: 'DELETE', headers: ledger });
    const own = records().filter(({ client }) => client === 'page ledger');
    expect(own.map(({ kind }) => kind)).toEqual([
      ...['signed_in', 'downloaded', 'linked', 'paused', 'resumed', 'signed_out'],
    ]);
    expect(own[2]).toMatchObject({ detail: 'viewer guest' });
  });
});
