// Containers of a real Docker and a real Podman, each in namespaces of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createRoad } from '../../src/backends/roads/create-road.ts';
import type { ContainerRoad } from '../../src/contract/machine.ts';
import { builtWorker } from '../support/build.ts';
import { buildChild, runChild } from '../support/child.ts';
import { describeBackend } from '../support/describe-backend.ts';
import { runInProcess } from '../support/nacre.ts';
import { createStart } from '../support/open-backend.ts';
import { isInstalled } from '../support/program-needs.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';
import { describeDoors } from './describe-doors.ts';
import { createGuidePlace } from './guide-place.ts';
import { engineNeeds, startEngine, type TestEngine } from './hosts/start-engine.ts';

const settings: Omit<ContainerRoad, 'kind'> = {
  ...{ image: 'nacre-test/node', pull: 'missing', network: 'none', mount: 'workspace' },
  ...{ mounts: [], env: {}, isReadOnly: false },
};

const kinds = (['docker', 'podman'] as const).map((kind) => {
  const missing = engineNeeds[kind].find((program) => !isInstalled(program));
  const reason = process.getuid?.() === 0 ? missing && `${missing} is missing` : 'only root can start it';
  return { kind, reason };
});

describe.each(kinds)('a container of $kind', ({ kind, reason }) => {
  let engine: TestEngine;
  beforeAll(async () => {
    if (reason === undefined) engine = await startEngine(kind, ['node', 'plain', 'busybox']);
  });
  afterAll(() => engine?.stop());

  const machine = (more: Partial<ContainerRoad> = {}) => ({
    ...{ name: 'box', orphanMs: 1_000, limits: {} },
    road: { kind, host: `unix://${engine.socket}`, ...settings, ...more },
  });

  const open = (more: Partial<ContainerRoad> = {}) => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const deps = { program: builtWorker, build: 'test', environment: { HOME: '/root' }, cwd: folder };
    const road = createRoad(machine(more), deps);
    const backend = createRemoteBackend({ ...toRemote(workerOptionsIn(folder)), road, elsewhere: {} });
    const close = async () => {
      await backend.close();
      await road.remove?.();
    };
    onTestFinished(close);
    const start = createStart(backend, '/');
    const run = async (script: string) => (await readAll(backend, await start(script))).stdout.trim();
    return { road, backend, folder, start, run, close };
  };

  const containers = async () =>
    (await engine.call('GET', '/containers/json?all=true')) as readonly { readonly Id: string }[];

  const version = async () =>
    ((await engine.call('GET', '/version')) as { readonly Version: string }).Version;

  describeBackend('as a backend', open, reason);
  describeBackend(
    'of an ordinary user without Node.js, as a backend',
    () => open({ image: 'nacre-test/plain', user: '1000:1000', isReadOnly: true }),
    reason,
  );

  const onEngine = () => ({
    DOCKER_HOST: `unix://${engine.socket}`,
    CONTAINER_HOST: `unix://${engine.socket}`,
  });

  describeDoors(
    'of its own',
    () => ({
      entry: `{ ${kind}: { image: nacre-test/node, network: none, mount: none, env: [COLOR=grey] } }`,
      ...{ proof: ['printenv', 'COLOR'], expected: 'grey\n', env: onEngine() },
    }),
    reason,
  );

  describe.skipIf(reason !== undefined)('of its own', () => {
    test('is gone with its connection, while files of the workspace stay', async () => {
      const { run, close, folder } = open();
      await run(`echo hi > ${folder}/file; sleep 300 & disown`);
      expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('hi\n');
      expect(await containers()).toHaveLength(1);
      await close();
      expect(await containers()).toEqual([]);
    });

    test('has no capability, no new privileges, no network but loopback, and an init process', async () => {
      const { run } = open();
      const status = await run('cat /proc/self/status');
      expect(status).toMatch(/CapEff:\t0000000000000000/);
      expect(status).toMatch(/CapBnd:\t0000000000000000/);
      expect(status).toMatch(/NoNewPrivs:\t1/);
      expect(await run('ls /sys/class/net')).toBe('lo');
      expect(await run('cat /proc/1/comm')).not.toBe('sh');
    });

    test('has the limits, variables, user and mounts of its settings', async () => {
      const data = temporaryFolder();
      chmodSync(data, 0o777);
      const { run } = open({
        ...{ memoryBytes: 268_435_456, cpuMillis: 500, maxProcesses: 100, user: '1000:1000' },
        ...{ env: { COLOR: 'pearl grey' }, mounts: [{ source: data, target: '/data', isReadOnly: true }] },
      });
      expect(await run('id -u; echo "COLOR=$COLOR"; touch /data/x 2>&1; ls -d /home/dev/.cache/nacre')).toBe(
        "1000\nCOLOR=pearl grey\ntouch: cannot touch '/data/x': Read-only file system\n/home/dev/.cache/nacre",
      );
      const [container] = await containers();
      expect(await engine.call('GET', `/containers/${container?.Id}/json`)).toMatchObject({
        HostConfig: { Memory: 268_435_456, NanoCpus: 500_000_000, PidsLimit: 100 },
      });
    });

    test('with a read-only root has writable folders below /tmp', async () => {
      const { run } = open({ isReadOnly: true });
      expect(await run('touch /x 2>&1; echo ok > /tmp/x; cat /tmp/x; ls -d /tmp/nacre-0')).toBe(
        "touch: cannot touch '/x': Read-only file system\nok\n/tmp/nacre-0",
      );
    });

    test('whose image has no Node gets that of this machine', async () => {
      const { run } = open({ image: 'nacre-test/plain' });
      expect(await run('echo hi; command -v node')).toBe('hi');
    });

    test('whose image has no bash, or which has no image, is refused with the reason', async () => {
      await expect(open({ image: 'nacre-test/busybox' }).backend.open()).rejects.toThrow('it has no bash');
      const absent = open({ image: 'nacre-test/absent', pull: 'never' });
      await expect(absent.backend.open()).rejects.toThrow(`${kind} has no image nacre-test/absent`);
      const pulled = open({ image: '127.0.0.1:9/nacre-test/absent' });
      await expect(pulled.backend.open()).rejects.toThrow('could not be pulled');
    });

    test('is replaced if it was removed, and its commands are reported as lost', async () => {
      const { backend, start, run } = open();
      const id = await start('echo begun; sleep 300');
      await backend.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
      const [first] = await containers();
      await engine.call('DELETE', `/containers/${first?.Id}?force=true`);
      await expect.poll(() => backend.wait(id, 0)).toMatchObject({ status: 'lost', end: { exitCode: null } });
      expect(await run('echo again')).toBe('again');
      expect((await containers()).map(({ Id }) => Id)).not.toContain(first?.Id);
    });

    test('keeps its commands while the engine is restarted', async () => {
      const { backend, start } = open();
      const id = await start('for i in $(seq 1 50); do echo $i; sleep 0.1; done; exit 3');
      await backend.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
      await engine.restart();
      // https://github.com/moby/moby/issues/46308
      if (kind === 'docker' && Number.parseInt(await version(), 10) < 24)
        return expect.poll(() => backend.wait(id, 0)).toMatchObject({ status: 'lost' });
      expect((await readAll(backend, id)).stdout.split('\n')).toHaveLength(51);
      expect(await backend.wait(id, 20_000)).toMatchObject({ end: { exitCode: 3 } });
    });

    test('that exists is used and left running', async () => {
      const Entrypoint = ['sh', '-c', 'while :; do sleep 1; done'];
      await engine.call('POST', '/containers/create?name=mine', { Image: 'nacre-test/node', Entrypoint });
      await expect(open({ container: 'mine' }).backend.open()).rejects.toThrow('is not running');
      await engine.call('POST', '/containers/mine/start');
      const { run, close } = open({ container: 'mine' });
      expect(await run('echo hi')).toBe('hi');
      await close();
      expect(await containers()).toHaveLength(1);
      await engine.call('DELETE', '/containers/mine?force=true');
      await expect(open({ container: 'mine' }).backend.open()).rejects.toThrow('has no container mine');
    });

    test('of an ordinary user has that user, and works for members of the group of the socket only', async () => {
      const [uid, gid, group] = [23_456, 23_456, 34_567];
      chownSync(engine.socket, 0, group);
      chmodSync(engine.socket, 0o660);
      const cwd = temporaryFolder();
      chownSync(cwd, uid, gid);
      const use = (groups: readonly number[]) =>
        runChild('use-container', {
          args: [JSON.stringify({ uid, gid, groups, machine: machine(), cwd, program: builtWorker, script })],
        });
      const script = 'id -u; echo hi > file; stat -c %u file';
      expect(await use([group])).toEqual({ stdout: `${uid}\n${uid}\n` });
      expect(await use([])).toMatchObject({ error: expect.stringContaining('you may not use the socket') });
      expect(await containers()).toEqual([]);
    });

    test('of a project has the image, user, folder and variables of its devcontainer.json', async () => {
      const folder = temporaryFolder();
      chmodSync(folder, 0o755);
      const file = {
        ...{ image: 'nacre-test/node', remoteUser: 'dev', workspaceFolder: '/work' },
        ...{ containerEnv: { COLOR: 'pearl' }, remoteEnv: { PLACE: '$WHERE' }, postCreateCommand: 'exit 1' },
      };
      const text = JSON.stringify(file).replace('WHERE', '{containerWorkspaceFolder}/x');
      writeFileSync(join(folder, '.devcontainer.json'), `// Comments are allowed.\n${text}`);
      const deps = { program: builtWorker, build: 'test', environment: onEngine(), cwd: folder };
      const road = createRoad({ ...machine(), road: { kind: 'devcontainer', engine: kind } }, deps);
      const backend = createRemoteBackend({ ...toRemote(workerOptionsIn(folder)), road, elsewhere: {} });
      onTestFinished(async () => {
        await backend.close();
        await road.remove?.();
      });
      const id = await createStart(backend, folder)('id -un; echo "$COLOR $PLACE"; cd /work; ls -A');
      const { stdout } = await readAll(backend, id);
      expect(stdout).toBe(`dev\npearl ${folder}/x\n.devcontainer.json\n`);
    });

    test('of the example in the guide runs commands', async () => {
      const place = createGuidePlace('machines-containers', onEngine());
      writeFileSync(join(place.cwd, '.devcontainer.json'), '{ "image": "node:22" }');
      await engine.call('POST', '/images/nacre-test%2Fnode/tag?repo=node&tag=22');
      const Entrypoint = ['sh', '-c', 'while :; do sleep 1; done'];
      await engine.call('POST', '/containers/create?name=ci-1', { Image: 'nacre-test/node', Entrypoint });
      await engine.call('POST', '/containers/ci-1/start');
      // The example has one engine for each of its machines.
      for (const on of { docker: ['box', 'dev'], podman: ['ci'] }[kind]) {
        const ended = await runInProcess(
          ['run', '--on', on, '--allow', '*', 'test -d /proc && exit 3'],
          place,
        );
        expect(ended, on).toMatchObject({ code: 3, stderr: '' });
      }
      await engine.call('DELETE', '/containers/ci-1?force=true');
      await engine.call('DELETE', '/images/node:22');
    });

    test('of a server that was killed is removed by the next one', async () => {
      const folder = temporaryFolder();
      const file = join(folder, 'child.mjs');
      await buildChild('use-container', file);
      const user = { uid: 0, gid: 0, groups: [] };
      const job = {
        ...user,
        machine: machine(),
        cwd: folder,
        program: builtWorker,
        script: 'echo up',
        stays: true,
      };
      const child = spawn(process.execPath, [file, JSON.stringify(job)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      const [left] = await containers();
      const other = open();
      await other.run('true');
      expect((await containers()).map(({ Id }) => Id)).toContain(left?.Id);
      await other.close();
      child.kill('SIGKILL');
      await once(child, 'exit');
      const next = open();
      await next.run('true');
      await expect.poll(containers).toHaveLength(1);
      await next.close();
      expect(await containers()).toEqual([]);
    });
  });
});
