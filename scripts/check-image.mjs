// Builds the container image and runs one command in it, if docker or podman is available.
import { spawnSync } from 'node:child_process';
import { step } from './set-up.mjs';

const name = 'nacre-check';

/** Checks the container image; prints that it is skipped if neither docker nor podman responds. */
export async function checkImage() {
  const engine = ['docker', 'podman'].find(
    (one) => spawnSync(one, ['info'], { stdio: 'ignore' }).status === 0,
  );
  if (engine === undefined)
    return console.log('\n> Container image: skipped, because neither docker nor podman is available.');
  await step('Container image', engine, ['build', '-q', '-t', name, '-f', 'packaging/Dockerfile', '.']);
  await step('Container', engine, [
    'run',
    '--rm',
    '--init',
    '--entrypoint',
    'nacre',
    name,
    'run',
    'echo it runs',
  ]);
  await step('Removing the image', engine, ['rmi', '-f', name]);
}
