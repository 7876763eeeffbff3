// Runs a command in a container, as the user and with the engine that its argument names, and prints what it wrote. With `stays`, it
// waits until it is killed.
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createRoad } from '../../src/backends/roads/create-road.ts';
import { createStart } from '../support/open-backend.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { workerOptionsIn } from '../support/worker-options.ts';

const { uid, gid, groups, machine, program, cwd, script, stays } = JSON.parse(process.argv[2] ?? '');
process.chdir(cwd);
process.setgroups?.(groups);
process.setgid?.(gid);
process.setuid?.(uid);

const deps = { program, build: 'test', environment: { HOME: '/nonexistent' }, cwd };
const road = createRoad(machine, deps);
const backend = createRemoteBackend({ ...toRemote(workerOptionsIn(cwd)), road });
try {
  const { stdout } = await readAll(backend, await createStart(backend, cwd)(script));
  console.log(JSON.stringify({ stdout }));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }));
}
if (stays) setInterval(() => {}, 1_000);
await new Promise((resolve) => !stays && resolve(null));
await backend.close();
await road.remove?.();
