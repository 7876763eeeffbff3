import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { findEngineSocket } from './find-engine.ts';

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

test('the setting is used before the variables of the engines, and these before the usual places', () => {
  const environment = { DOCKER_HOST: 'unix:///run/a.sock', CONTAINER_HOST: 'unix:///run/b.sock', HOME: '/h' };
  expect(findEngineSocket('m', { kind: 'docker', host: 'unix:///c.sock' }, environment)).toBe('/c.sock');
  expect(findEngineSocket('m', { kind: 'docker', host: '/c.sock' }, environment)).toBe('/c.sock');
  expect(findEngineSocket('m', { kind: 'docker' }, environment)).toBe('/run/a.sock');
  expect(findEngineSocket('m', { kind: 'podman' }, environment)).toBe('/run/b.sock');
});

test('the context of Docker is read from its configuration, and DOCKER_CONTEXT names another one', () => {
  const home = temporaryFolder();
  const contexts = join(home, '.docker/contexts/meta');
  for (const name of ['rootless', 'other']) {
    const digest = createHash('sha256').update(name).digest('hex');
    const meta = { Name: name, Endpoints: { docker: { Host: `unix:///run/${name}.sock` } } };
    write(join(contexts, digest, 'meta.json'), JSON.stringify(meta));
  }
  write(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'rootless' }));
  const find = (more = {}) => findEngineSocket('m', { kind: 'docker' }, { HOME: home, ...more });
  expect(find()).toBe('/run/rootless.sock');
  expect(find({ DOCKER_CONTEXT: 'other' })).toBe('/run/other.sock');
  expect(() => find({ DOCKER_CONTEXT: 'gone' })).toThrow('the Docker context "gone" has no readable address');
});

test('the socket in XDG_RUNTIME_DIR is found', () => {
  const runtime = temporaryFolder();
  write(join(runtime, 'podman/podman.sock'), '');
  expect(findEngineSocket('m', { kind: 'podman' }, { XDG_RUNTIME_DIR: runtime })).toBe(
    join(runtime, 'podman/podman.sock'),
  );
});

test.each([
  'tcp://10.0.0.1:2376',
  'ssh://me@host',
  'https://host',
  'npipe:////./pipe/docker',
  'relative.sock',
])('the address %s is refused with a way to forward a socket', (host) => {
  expect(() => findEngineSocket('m', { kind: 'docker', host }, {})).toThrow(
    'only Unix sockets are supported',
  );
});
