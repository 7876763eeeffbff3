import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import { recordOutput } from '../../backends/layers/record-output.ts';
import { createRecordings } from '../../recordings/recordings.ts';
import type { CallerContext } from '../context/call-context.ts';
import type { WriteRequest } from '../typing/write-command.ts';
import type { ReadQuery } from './read-command.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine({ worker: { highestLevel: 'namespace' } });
});
afterEach(() => here.close());

const me: CallerContext = { caller: { door: 'cli', client: 'test' }, owner: 'tester' };
const usual: ReadQuery = {
  waitMs: 20_000,
  untilInput: true,
  maxChars: 30_000,
  keep: 'ends',
  view: 'clean',
  howToReadOn: () => '',
};
const start = (script: string, size = { cols: 80, rows: 24 }) => here.start(script, { terminal: size });
const read = (id: string, query: Partial<ReadQuery> = {}) => here.engine.read(id, { ...usual, ...query }, me);
const type = async (id: string, input: Partial<WriteRequest>, query: Partial<ReadQuery> = {}) => {
  await here.engine.write(id, { text: '', eof: false, secret: false, ...input }, me);
  return read(id, query);
};
const screen = async (id: string) => {
  const found = (await read(id, { wantsScreen: true, waitMs: 0 })).screen;
  if (!found) throw new Error('There is no screen.');
  return found;
};
const shows = (id: string, text: string | RegExp) =>
  expect.poll(async () => (await screen(id)).text, { timeout: 20_000 }).toMatch(text);

describe('T9: programs at a terminal', () => {
  test('a shell: prompts, line editing and history', async () => {
    const id = await start('export PS1="prompt> "; exec bash --norc -i');
    expect(await read(id)).toMatchObject({ wakeReason: 'awaiting_input', prompt: 'prompt>' });
    expect((await type(id, { text: 'echo one\n' }, { waitFor: '^one$' })).stdout).toContain('one\n');
    await type(id, { keys: ['up', 'home'] }, { waitMs: 300 });
    await type(id, { text: ': ; ', keys: ['end'] }, { waitMs: 300 });
    await type(id, { text: ' two', keys: ['enter'] }, { waitFor: '^one two$' });
    await shows(id, /prompt> : ; echo one two\none two\nprompt>/);
    await type(id, { keys: ['ctrl-d'] });
    expect((await read(id)).state.status).toBe('completed');
  });

  test('python and node: input and output at their prompts', async () => {
    const python = await start('exec python3 -q');
    expect(await read(python, { waitFor: '>>> $' })).toMatchObject({ state: { status: 'running' } });
    // Python ignores a Ctrl-D that arrives before its prompt.
    const printed = await type(python, { text: 'print(6 * 7)\n' }, { waitFor: '^42\\r?\\n>>> $' });
    expect(printed.stdout).toContain('42');
    await type(python, { keys: ['ctrl-d'] }, { untilInput: false });
    expect((await read(python)).state.status).toBe('completed');
    const node = await start('exec node');
    expect(await read(node, { waitFor: '> $' })).toMatchObject({ state: { status: 'running' } });
    await type(node, { text: '[1, 2].map((x) => x * 21)\n' }, { waitFor: '21, 42' });
    expect((await read(node, { cursor: 0, waitFor: '21, 42' })).stdout).toContain('[ 21, 42 ]');
    await type(node, { text: '.exit\n' }, { untilInput: false });
    expect((await read(node)).state.status).toBe('completed');
  });

  test('prompts like those of psql: one for a statement, another one for its continuation', async () => {
    // Prints `db=# ` before a statement and `db-# ` while it is incomplete.
    const console = `statement=; prompt='db=# '
      while read -re -p "$prompt" line; do
        [ "$line" = '\\q' ] && exit 0
        statement+="$line "
        case $line in *';') echo "ran: $statement"; statement=; prompt='db=# ';; *) prompt='db-# ';; esac
      done`;
    const id = await start(console);
    expect(await read(id)).toMatchObject({ wakeReason: 'awaiting_input', prompt: 'db=#' });
    expect(await type(id, { text: 'select 1\n' })).toMatchObject({
      wakeReason: 'awaiting_input',
      prompt: 'db-#',
    });
    const ran = await type(id, { text: 'from t;\n' }, { waitFor: 'ran:.*[\\s\\S]*db=# $' });
    expect(ran.stdout).toContain('ran: select 1 from t; \n');
    await type(id, { keys: ['up'] }, { waitMs: 300 });
    expect((await type(id, { text: '\\q', keys: ['home', 'ctrl-k'] }, { waitMs: 300 })).state.end).toBeNull();
    await type(id, { text: '\\q\n' }, { untilInput: false });
    expect((await read(id)).state.status).toBe('completed');
  });

  test('vim: keys edit and save a file, and the screen shows it', async () => {
    const id = await start('exec vim -u NONE -N note.txt', { cols: 60, rows: 12 });
    await shows(id, /note\.txt/);
    await type(id, { text: 'ihello from vim', keys: ['esc'] }, { waitMs: 300 });
    await shows(id, /^hello from vim\n~/);
    expect((await screen(id)).cursor.row).toBe(1);
    await type(id, { text: ':wq\n' }, { untilInput: false });
    expect((await read(id)).state).toMatchObject({ status: 'completed' });
    expect(readFileSync(join(here.folder, 'note.txt'), 'utf8')).toBe('hello from vim\n');
  });

  test('less: paging and resizing', async () => {
    writeFileSync(
      join(here.folder, 'long'),
      Array.from({ length: 500 }, (_, i) => `line ${i + 1}\n`).join(''),
    );
    const id = await start('exec less long', { cols: 40, rows: 10 });
    await shows(id, /^line 1\n[\s\S]*line 9\n/);
    await type(id, { keys: ['pagedown'] }, { waitMs: 200 });
    await shows(id, /^line 10\n/);
    await type(id, { resize: { cols: 200, rows: 60 } }, { waitMs: 200 });
    await shows(id, /line 60\n/);
    expect(await screen(id)).toMatchObject({ cols: 200, rows: 60 });
    await type(id, { text: 'G' }, { waitMs: 200 });
    await shows(id, /line 500\n/);
    await type(id, { text: 'q' }, { untilInput: false });
    expect((await read(id)).state.status).toBe('completed');
  });

  test('top: redraws result in one screen', async () => {
    const id = await start('exec top -d 0.3', { cols: 100, rows: 20 });
    await shows(id, /%Cpu[\s\S]*PID/);
    expect((await screen(id)).text.split('\n').length).toBeLessThanOrEqual(21);
    await type(id, { text: 'q' }, { untilInput: false });
    expect((await read(id)).state.status).toBe('completed');
  });

  test('ssh-keygen: a passphrase prompt without echo; the passphrase stays secret', async () => {
    const id = await start('exec ssh-keygen -t ed25519 -f key');
    expect(await read(id)).toMatchObject({
      wakeReason: 'awaiting_input',
      prompt: expect.stringContaining('passphrase'),
    });
    await type(id, { text: 'correct horse\n', secret: true });
    const done = await type(id, { text: 'correct horse\n', secret: true });
    expect(done.state.status).toBe('completed');
    expect(existsSync(join(here.folder, 'key.pub'))).toBe(true);
    expect(JSON.stringify(here.records())).not.toContain('correct horse');
    expect((await read(id, { cursor: 0 })).stdout).not.toContain('correct horse');
  });

  test('a secret that the terminal echoes is masked', async () => {
    const id = await start('read -r x; echo "it was $x"; sleep 60');
    await read(id);
    await type(id, { text: 'hunter2\n', secret: true }, { waitFor: 'it was' });
    const all = await read(id, { cursor: 0, waitMs: 0 });
    expect(all.stdout).toBe('*******\nit was *******\n');
    expect((await screen(id)).text).toContain('it was *******');
  });

  test('every line of a secret is masked in text, raw bytes and recordings', async () => {
    const folder = join(here.folder, 'recordings');
    const recorded = createTestEngine({
      wrap: (backend) =>
        recordOutput(backend, createRecordings(folder, { keepDays: 1, maxBytes: 1_048_576 })),
    });
    const id = await recorded.start('read -r user; read -r word; echo "$user and $word"', {
      terminal: { cols: 80, rows: 24 },
    });
    const input = { text: 'username\nhunter2\n', eof: false, secret: true };
    await recorded.engine.write(id, input, me);
    const raw = { ...usual, waitFor: ' and ', untilInput: false, view: 'raw' } as const;
    expect((await recorded.engine.read(id, raw, me)).stdout).toMatch(/\*{8} and \*{7}/);
    const bytes = await recorded.engine.readBytes(id, 0, { waitMs: 0, maxBytes: 1_000 }, me);
    expect(Buffer.concat(bytes.chunks.map(({ data }) => data)).toString()).not.toMatch(/username|hunter2/);
    await recorded.close();
    const casts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(casts.join('')).toContain('*******');
    expect(casts.join('')).not.toMatch(/username|hunter2/);
  });

  test('a program that queries its terminal gets a reply', async () => {
    const id = await start('printf "\\e[6n"; IFS= read -rs -d R answer; printf "%q\\n" "$answer"');
    expect((await read(id, { untilInput: false })).stdout).toContain('E[1;1');
  });
});

describe('T9: a terminal', () => {
  test('shows the end of very fast output', async () => {
    const id = await start('seq 1 400000; echo the end; sleep 60');
    await read(id, { waitFor: '^the end$' });
    await shows(id, /400000\nthe end\n$/);
  });

  test('is needed for a screen, a size and most keys', async () => {
    const id = await here.start(
      'trap "echo caught; exit 4" INT; echo up; read -r x; while :; do sleep 0.05; done',
    );
    await expect(read(id, { wantsScreen: true, waitMs: 0 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(type(id, { keys: ['up'] })).rejects.toMatchObject({ hint: expect.stringContaining('pty') });
    await expect(type(id, { resize: { cols: 9, rows: 9 } })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await type(id, { text: 'x', keys: ['enter'] }, { waitMs: 300 });
    expect(await type(id, { keys: ['ctrl-c'] }, { untilInput: false })).toMatchObject({
      state: { end: { exitCode: 4 } },
    });
    const cat = await here.start('cat');
    await type(cat, { text: 'a', keys: ['tab', 'enter', 'ctrl-d'] }, { untilInput: false });
    expect(await read(cat, { cursor: 0 })).toMatchObject({ stdout: 'a\t\n', state: { status: 'completed' } });
  });

  test('is refused for a shell while only listed programs may run, and so are editing keys in a shell without one', async () => {
    const rules = {
      allow: { kind: 'names', names: ['bash', 'echo'] },
      allowSetting: 'X',
      danger: 'block',
    } as const;
    const terminal = { cols: 80, rows: 24 };
    await expect(here.start('bash', { terminal }, { rules })).rejects.toMatchObject({
      code: 'policy_denied',
    });
    const id = await here.start('bash', {}, { rules });
    await expect(type(id, { keys: ['tab'] })).rejects.toMatchObject({ code: 'policy_denied' });
    await type(id, { text: 'echo hi', keys: ['enter'] }, { waitFor: 'hi' });
    expect((await type(id, { keys: ['ctrl-d'] }, { untilInput: false })).state.status).toBe('completed');
  });

  test('does not let dangerous commands be typed into its shell', async () => {
    const id = await start('exec bash --norc -i');
    await read(id);
    await expect(type(id, { text: 'rm -rf /', keys: ['enter'] })).rejects.toMatchObject({
      code: 'policy_denied',
    });
  });
});
