// Builds the container image and starts what is in it once, where there is an engine for that.
import { spawnSync } from 'node:child_process';
import { step } from './set-up.mjs';

const name = 'nacre-check';

/** Does nothing but say so where neither docker nor podman answers. */
export function checkImage() {
  const engine = ['docker', 'podman'].find(
    (one) => spawnSync(one, ['info'], { stdio: 'ignore' }).status === 0,
  );
  if (engine === undefined) return console.log('\n> Container image: no engine here, so it is not built.');
  step('Container image', engine, ['build', '-q', '-t', name, '-f', 'packaging/Dockerfile', '.']);
  step('Container', engine, ['run', '--rm', '--init', '--entrypoint', 'nacre', name, 'run', 'echo it runs']);
  step('Removing the image', engine, ['rmi', '-f', name]);
}
