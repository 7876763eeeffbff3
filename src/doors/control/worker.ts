import { NacreError } from '../../contract/failure.ts';
import type { Arguments, IoAccess, WorkerAccess } from '../door.ts';
import { print } from '../print.ts';

/** Shows the detached worker, or connects stdin and stdout to it. */
export async function workerDoor(deps: IoAccess & Arguments & WorkerAccess): Promise<number> {
  const { io, words } = deps;
  const [word, ...more] = words;
  if (word === 'attach' && more.length === 0) return bridge(deps);
  if (word !== undefined) throw unknownWord(words);
  const workers = deps.findWorkers();
  const lines = workers.map(({ pid, build, folder }) => `pid ${pid}, version ${build}, ${folder}\n`);
  await print(
    io.stdout,
    lines.length === 0 ? 'No worker runs; a server starts it when it is needed.\n' : lines.join(''),
  );
  return 0;
}

async function bridge({ io, openWorker }: IoAccess & WorkerAccess): Promise<number> {
  const stream = await openWorker();
  const done = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
    io.interrupted.addEventListener('abort', () => resolve());
  });
  io.stdin.pipe(stream).pipe(io.stdout);
  await done;
  stream.destroy();
  return 0;
}

function unknownWord(words: readonly string[]): NacreError {
  return new NacreError(
    'invalid_request',
    `nacre worker accepts attach or nothing, not ${words.join(' ')}.`,
    {
      hint: 'Run nacre worker --help to see what each does.',
    },
  );
}
