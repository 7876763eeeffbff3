import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { WorkerOptions } from '../worker-options.ts';

// A sandbox has a private /tmp, which would hide a home directory there.
const originalTmpdir = process.env.TMPDIR;
beforeAll(() => {
  process.env.TMPDIR = '/var/tmp';
});
afterAll(() => {
  process.env.TMPDIR = originalTmpdir ?? '/tmp';
});

let here: TestWorker;
let project = '';
const make = (options: Partial<WorkerOptions>) => {
  here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace', ...options });
  project = join(here.folder, 'project');
  mkdirSync(project);
};
afterEach(() => here.close());
const run = (script: string) => here.run(script, { cwd: project });

describe.each(['workspace', 'strict'] as const)('in the sandbox %s', (sandbox) => {
  beforeEach(() => make({ sandbox }));

  // /proc/pressure only adds a trigger for the process that wrote to it.
  test('nothing of /proc and /sys that changes the machine is writable, also for root', async () => {
    const writable = `find /proc /sys -path '/proc/[0-9]*' -prune -o -path /proc/pressure -prune -o -type f -writable -print 2> /dev/null`;
    expect((await run(writable)).stdout).toBe('');
  });

  test('a command writes in its workspace and in a private /tmp, and nowhere else', async () => {
    const probe = `${here.folder}/outside`;
    const { stdout } = await run(
      `echo in > inside && cat inside; echo t > /tmp/nacre-sandbox-t && echo tmp; for f in ${probe} /etc/nacre-x /usr/nacre-x /var/nacre-x ~/nacre-x; do (echo x > "$f") 2> /dev/null && echo "wrote $f"; done; true`,
    );
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['in', 'tmp']));
    expect([probe, '/etc/nacre-x', '/usr/nacre-x', '/var/nacre-x'].filter(existsSync)).toEqual([]);
    expect(readFileSync(join(project, 'inside'), 'utf8')).toBe('in\n');
    expect(existsSync('/tmp/nacre-sandbox-t')).toBe(false);
  });

  test('neither links nor remounts lead out of it', async () => {
    writeFileSync(join(here.folder, 'target'), 'kept');
    symlinkSync(join(here.folder, 'target'), join(project, 'link'));
    const { stdout } = await run(
      `echo x > link; ln ${here.folder}/target hard 2> /dev/null && echo linked; mount -o remount,rw / 2> /dev/null && echo remounted; unshare -Urm mount -o remount,rw,bind / 2> /dev/null && echo nested; true`,
    );
    expect(stdout).not.toMatch(/linked|remounted|nested/);
    expect(readFileSync(join(here.folder, 'target'), 'utf8')).toBe('kept');
  });

  test('a server on the loopback of the machine cannot be reached', async () => {
    const server = createServer((socket) => socket.end('leak'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { stdout } = await run(`(exec 3<> /dev/tcp/127.0.0.1/${port} && cat <&3) 2> /dev/null; echo done`);
    expect(stdout).toBe('done\n');
    await new Promise((resolve) => server.close(resolve));
  });

  test('nacre’s own files and key stores cannot be read, and other processes cannot be seen', async () => {
    mkdirSync(join(here.folder, '.ssh'));
    writeFileSync(join(here.folder, '.ssh', 'id'), 'secret');
    const files = ['.netrc', '.git-credentials', '.pgpass'];
    for (const name of files) writeFileSync(join(here.folder, name), 'secret');
    const { folder } = await here.worker.report();
    const { stdout } = await run(
      `cd ~; cat .ssh/id ${files.join(' ')} 2> /dev/null; ls -A ${folder} 2> /dev/null; ls -A ${here.folder}/state; ls -d /proc/[0-9]* | wc -l`,
    );
    expect(stdout).not.toContain('secret');
    expect(Number(stdout.trim())).toBeLessThan(10);
  });

  test('git, pipes, process substitution and background jobs work', async () => {
    const { stdout, state } = await run(
      'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log --format=%s; diff <(echo a) <(echo a) && echo same; sleep 0.01 & wait; node -e "console.log(1+1)"; python3 -c "print(3)"',
    );
    expect(stdout).toBe('first\nsame\n2\n3\n');
    expect(state).toMatchObject({
      status: 'completed',
      enforcement: { level: 'namespace', sandbox, network: 'off', setuid: false },
    });
  });

  test.each(['/', '/usr', '/etc/ssl', '/home'])('%s is not a workspace', async (cwd) => {
    await expect(here.start('true', { cwd })).rejects.toMatchObject({ code: 'isolation_unavailable' });
  });

  test('E5: neither key stores nor nacre’s own folders are a workspace', async () => {
    const keys = join(here.folder, '.ssh', 'more');
    mkdirSync(keys, { recursive: true });
    const { folder } = await here.worker.report();
    for (const cwd of [keys, join(here.folder, '.ssh')])
      await expect(here.start('true', { cwd })).rejects.toThrow('which contains keys');
    for (const cwd of [folder, join(here.folder, 'state')])
      await expect(here.start('true', { cwd })).rejects.toThrow("one of nacre's own folders");
  });

  test('E5: settings folders are a workspace only if the user names them', async () => {
    for (const name of [
      '.config/autostart',
      '.local/share/here',
      '.cursor/worktrees/one',
      'dotfiles/vim/plugin',
    ])
      mkdirSync(join(here.folder, name), { recursive: true });
    symlinkSync('dotfiles/vim', join(here.folder, '.vim'));
    const behindLink = ['dotfiles', 'dotfiles/vim', 'dotfiles/vim/plugin'];
    for (const name of ['.config', '.config/autostart', '.local', '.cursor', ...behindLink])
      await expect(here.start('true', { cwd: join(here.folder, name) })).rejects.toMatchObject({
        code: 'isolation_unavailable',
        message: `The sandbox ${sandbox} would leave ${join(here.folder, name)} writable, which contains settings of programs outside of it.`,
        hint: expect.stringContaining('workspace can also name'),
      });
    for (const name of ['.local/share/here', '.cursor/worktrees/one'])
      expect(await here.run('echo x > y && cat y', { cwd: join(here.folder, name) })).toMatchObject({
        stdout: 'x\n',
      });
    await here.close();
    const home = temporaryFolder();
    const config = join(home, '.config');
    mkdirSync(config);
    make({ sandbox, home, workspace: [config] });
    expect(await here.run('echo x > y && cat y', { cwd: config })).toMatchObject({ stdout: 'x\n' });
    rmSync(home, { recursive: true });
  });

  test('E5: key stores and a home directory that are symlinks are hidden at their targets', async () => {
    await here.close();
    const elsewhere = temporaryFolder();
    mkdirSync(join(elsewhere, 'home'));
    mkdirSync(join(elsewhere, 'keys'));
    mkdirSync(join(elsewhere, 'project'));
    writeFileSync(join(elsewhere, 'keys', 'id'), 'secret');
    symlinkSync(join(elsewhere, 'keys'), join(elsewhere, 'home', '.ssh'));
    symlinkSync(join(elsewhere, 'home'), join(elsewhere, 'link'));
    make({ sandbox, home: join(elsewhere, 'link') });
    const { stdout } = await here.run(
      `cat ${elsewhere}/keys/id ${elsewhere}/link/.ssh/id 2> /dev/null; echo ran`,
      {
        cwd: join(elsewhere, 'project'),
      },
    );
    expect(stdout).toBe('ran\n');
    rmSync(elsewhere, { recursive: true });
  });

  test('E5: root cannot unmount the mounts that hide nacre’s own files, and no such gap is reported', async () => {
    const { state, stdout } = await run('umount -l ~/state 2> /dev/null; ls -A ~/state 2> /dev/null | wc -l');
    expect(stdout).toBe('0\n');
    expect(state.enforcement?.gaps.join()).not.toContain('unmount');
    expect((await here.worker.report()).gaps.join()).not.toContain('unmount');
  });

  test('works for a user without a home directory', async () => {
    await here.close();
    make({ sandbox, home: '/nonexistent' });
    expect((await run('echo ran')).stdout).toBe('ran\n');
  });

  test('the home directory is not a workspace', async () => {
    await expect(here.start('true', { cwd: here.folder })).rejects.toThrow('too wide for a workspace');
  });
});

describe('the sandbox', () => {
  test('strict hides the home directory except for the workspace', async () => {
    make({ sandbox: 'strict' });
    writeFileSync(join(here.folder, 'diary'), 'private');
    linkSync(join(here.folder, 'diary'), join(here.folder, 'copy'));
    expect((await run('cat ~/diary ~/copy 2> /dev/null; ls -A ~')).stdout).toBe('project\n');
  });

  test('workspace allows the network if it is on', async () => {
    make({ sandbox: 'workspace', network: 'on' });
    const { state } = await run('true');
    expect(state.enforcement).toMatchObject({ network: 'on' });
    expect(await here.worker.report()).toMatchObject({ network: 'on' });
  });

  test('strict has no network, even if the setting is on', async () => {
    make({ sandbox: 'strict', network: 'on' });
    const { stdout, state } = await run('tail -n +3 /proc/net/dev | cut -d: -f1');
    expect(stdout.trim()).toBe('lo');
    expect(state.enforcement).toMatchObject({ network: 'off' });
    expect(await here.worker.report()).toMatchObject({ network: 'off' });
  });

  test('configured folders are writable instead of the working directory', async () => {
    make({ sandbox: 'workspace' });
    await here.close();
    const other = join(here.folder, 'other');
    mkdirSync(other, { recursive: true });
    here = createTestWorker({ highestLevel: 'namespace', sandbox: 'workspace', workspace: [other] });
    mkdirSync(join(here.folder, 'project'));
    const project = join(here.folder, 'project');
    const { stdout } = await here.run(
      `echo ok > file && cat file; (echo no > ${project}/x) 2> /dev/null || echo refused`,
      { cwd: other },
    );
    expect(stdout).toBe('ok\nrefused\n');
    await expect(here.start('true', { cwd: project })).rejects.toMatchObject({ code: 'cwd_invalid' });
    expect((await here.worker.inspect({ cwd: undefined, roots: [], programs: [] })).cwd.path).toBe(other);
  });

  test('a configured workspace may be relative, contain .. or be a symlink', async () => {
    for (const workspace of ['project', './project/', 'other/../project', 'link']) {
      make({ sandbox: 'workspace', workspace: [workspace] });
      symlinkSync(project, join(here.folder, 'link'));
      mkdirSync(join(here.folder, 'other'));
      const { stdout } = await run('echo in > inside && cat inside; (echo no > ../outside) 2> /dev/null');
      expect(stdout).toBe('in\n');
      await here.close();
    }
    make({ sandbox: 'workspace', workspace: ['/var/'] });
    await expect(run('true')).rejects.toThrow('leave /var writable, which is too wide for a workspace');
    await here.close();
    make({ sandbox: 'workspace', workspace: ['project/..'] });
    await expect(run('true')).rejects.toThrow('too wide for a workspace');
    await here.close();
    make({ sandbox: 'workspace', workspace: ['missing'] });
    await expect(run('true')).rejects.toThrow('leave missing writable, which does not exist');
  });

  test('is refused, not ignored, if it cannot be enforced', async () => {
    here = createTestWorker({ highestLevel: 'unshare', sandbox: 'strict' });
    await expect(here.start('true')).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining('Landlock'),
    });
  });

  test('supervision below what is required refuses every command', async () => {
    here = createTestWorker({ highestLevel: 'group', supervisionRequire: 'namespace' });
    await expect(here.start('true')).rejects.toThrow('level group here, but the settings require namespace');
  });
});
