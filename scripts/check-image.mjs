// Builds the container image, waits until a container of it is healthy and runs one command in it, if docker or podman
// is available.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { step } from './set-up.mjs';

const name = 'nacre-check';
const pullMs = 300_000;

/** Checks the container image; prints why it is skipped if no engine responds, or if the base image cannot be had. */
export async function checkImage() {
  const engine = ['docker', 'podman'].find((one) => succeeds(one, ['info']));
  if (engine === undefined) return skip('neither docker nor podman is available');
  // `NACRE_IMAGE_BASE` names another base image, for machines that cannot reach the usual one.
  const base = process.env.NACRE_IMAGE_BASE ?? defaultBase();
  if (!succeeds(engine, ['image', 'inspect', base]) && !succeeds(engine, ['pull', '-q', base]))
    return skip(`${engine} has no image ${base} and cannot pull it`);
  const build = ['build', '-q', '-t', name, '-f', 'packaging/Dockerfile', '--build-arg', `BASE=${base}`, '.'];
  await step('Container image', engine, build);
  await checkContainer(engine);
  await step('Removing the image', engine, ['rmi', '-f', name]);
}

function skip(reason) {
  console.log(`\n> Container image: skipped, because ${reason}.`);
}

function succeeds(program, args) {
  return spawnSync(program, args, { stdio: 'ignore', timeout: pullMs }).status === 0;
}

function defaultBase() {
  const [, base] = /^ARG BASE=(\S+)$/m.exec(readFileSync('packaging/Dockerfile', 'utf8')) ?? [];
  if (base === undefined) throw new Error('packaging/Dockerfile has no line ARG BASE=IMAGE');
  return base;
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
