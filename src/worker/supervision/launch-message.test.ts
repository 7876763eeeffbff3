import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openDescriptors, processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';

describe('a launch message', () => {
  let here: TestWorker;
  let home: string;
  afterEach(async () => {
    await here.close();
    await expect.poll(() => processesWith(`HOME=${home}`)).toEqual([]);
  });
  const begin = (locale: Record<string, string> = { LANG: 'C.UTF-8' }) => {
    home = temporaryFolder();
    const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, ...locale };
    here = createTestWorker({
      highestLevel: 'namespace',
      supervisionRequire: 'namespace',
      environment,
    });
  };

  test.each([{ LANG: 'C.UTF-8' }, { LC_ALL: 'C' }])(
    'T2: passes every text unchanged, in the locale %o',
    async (locale) => {
      begin(locale);
      const text = `ä€😀 it's "quoted" \\303 \\ $x\ttab\nsecond line \u0001\u007f`;
      const echo = await here.run('printf %s "$text"; cat', {
        env: { text },
        stdin: 'empty',
      });
      expect(echo.stdout).toBe(text);
      const script = await here.run(`printf %s '${text.replaceAll("'", '')}'; printf %s "$LINENO"`);
      expect(script.stdout).toBe(`${text.replaceAll("'", '')}2`);
      const argv = await here.run('', { command: { kind: 'argv', argv: ['printf', '%s|', text, ''] } });
      expect(argv.stdout).toBe(`${text}||`);
    },
  );

  test('T3: leaves every byte after it to the command', async () => {
    begin();
    const [long, TMOUT, LC_ALL] = ['ä'.repeat(60_000), '1', 'C'];
    const id = await here.start('cat; echo "$long" | wc -c', { stdin: 'open', env: { TMOUT, LC_ALL, long } });
    await here.worker.write(id, Buffer.from('000012first\0ü'), { eof: true });
    await here.worker.wait(id, 20_000);
    expect((await here.output(id)).stdout).toBe('000012first\0ü120001\n');
  });

  test('S6: nothing of a prepared command runs before it is started, nor after it is stopped', async () => {
    begin();
    await here.run('true');
    const descriptors = openDescriptors();
    const made = join(here.folder, 'made');
    const spec = {
      command: { kind: 'shell', script: `touch ${made}` },
      cwd: here.folder,
      env: {},
      stdin: 'empty',
      timeoutMs: null,
    } as const;
    for (let round = 0; round < 8; round += 1) {
      const id = `stopped-${round}`;
      await here.worker.prepare({ ...spec, id });
      await new Promise((resolve) => setTimeout(resolve, 30));
      const ended = await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
      expect(ended.status).toBe('killed');
      await here.worker.start(id);
      await here.worker.dispose(id);
    }
    expect(existsSync(made)).toBe(false);
    await here.worker.prepare({ ...spec, id: 'run' });
    await here.worker.start('run');
    await here.worker.start('run');
    expect((await here.worker.wait('run', 20_000)).status).toBe('completed');
    expect(existsSync(made)).toBe(true);
    // A keeper of the pool, with four descriptors, may have been started since.
    await expect.poll(openDescriptors, { timeout: 10_000 }).toBeLessThanOrEqual(descriptors + 4);
  });
});
