// Builds the container image, waits until a container of it is healthy and runs one command in it, if docker or podman
// is available.
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { step } from './set-up.mjs';

const name = 'nacre-check';

/** Checks the container image; prints that it is skipped if neither docker nor podman responds. */
export async function checkImage() {
  const engine = ['docker', 'podman'].find(
    (one) => spawnSync(one, ['info'], { stdio: 'ignore' }).status === 0,
  );
  if (engine === undefined)
    return console.log('\n> Container image: skipped, because neither docker nor podman is available.');
  // `NACRE_IMAGE_BASE` names another base image, for machines that cannot reach the usual one.
  const { NACRE_IMAGE_BASE: base } = process.env;
  const from = base === undefined ? [] : ['--build-arg', `BASE=${base}`];
  await step('Container image', engine, [
    'build',
    '-q',
    '-t',
    name,
    '-f',
    'packaging/Dockerfile',
    ...from,
    '.',
  ]);
  await checkContainer(engine);
  await step('Removing the image', engine, ['rmi', '-f', name]);
}

async function checkContainer(engine) {
  const remove = () => spawnSync(engine, ['rm', '-f', '-v', name], { stdio: 'ignore' });
  // `step` exits the process if a step fails.
  process.on('exit', remove);
  await step('Container', engine, [
    'run',
    '-d',
    '--name',
    name,
    '--health-interval=1s',
    name,
    '--preset',
    'dev',
  ]);
  const health = ['inspect', '--format', '{{.State.Health.Status}}', name];
  const isHealthy = () => spawnSync(engine, health, { encoding: 'utf8' }).stdout.trim() === 'healthy';
  for (let tries = 0; tries < 60 && !isHealthy(); tries += 1) await sleep(500);
  await step('Health', 'test', [String(isHealthy()), '=', 'true']);
  await step('Command in the container', engine, ['exec', name, 'nacre', 'run', 'echo it runs']);
  remove();
  process.off('exit', remove);
}
