import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { readDevcontainer } from './devcontainer.ts';

const read = (text: string, path = '.devcontainer/devcontainer.json') => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, '.devcontainer'));
  mkdirSync(join(cwd, 'data'));
  symlinkSync('/etc', join(cwd, 'outside'));
  writeFileSync(join(cwd, path), text);
  const environment = { HOME: '/home/me', TOKEN: 'secret' };
  return { cwd, road: () => readDevcontainer('dev', 'docker', { cwd, environment }) };
};

test('the image, variables, user and mounts are read, with comments and trailing commas', () => {
  const { road, cwd } = read(`{
    // The image of our team, see https://example.com/images
    "image": "node:22", /* "image": "other", */
    "containerEnv": { "A": "// no comment", "B": "\${localWorkspaceFolder}/x", },
    "remoteEnv": { "A": "two", "C": "\${localEnv:TOKEN}", "D": "\${localEnv:TOKEN:none}", "E": null },
    "remoteUser": "node",
    "workspaceFolder": "/workspace",
    "mounts": [
      "source=\${localWorkspaceFolder}/data,target=/data,type=bind,readonly",
      { "type": "bind", "source": "\${localWorkspaceFolder}", "target": "/again" },
    ],
    "postCreateCommand": "npm ci",
  }`);
  expect(road()).toEqual({
    ...{ kind: 'docker', image: 'node:22', pull: 'missing', network: 'bridge', mount: 'workspace' },
    ...{ isReadOnly: false, user: 'node', env: { A: 'two', B: `${cwd}/x`, C: '', D: 'none' } },
    mounts: [
      { source: cwd, target: '/workspace', isReadOnly: false },
      { source: join(cwd, 'data'), target: '/data', isReadOnly: true },
      { source: cwd, target: '/again', isReadOnly: false },
    ],
  });
});

test('the file may lie directly in the project', () => {
  expect(read('{"image":"a"}', '.devcontainer.json').road()).toMatchObject({ image: 'a', mounts: [] });
  expect(read('{}', 'other.json').road).toThrow('has neither .devcontainer/devcontainer.json nor');
});

test.each([
  ['{"build":{"dockerfile":"Dockerfile"}}', 'build is set, but nacre does not build images'],
  ['{"dockerFile":"Dockerfile"}', 'dockerFile is set, but nacre does not build images'],
  [
    '{"dockerComposeFile":["a.yml"],"service":"app"}',
    'dockerComposeFile is set, but nacre does not build images',
  ],
  ['{"image":"a","features":{"ghcr.io/x/y:1":{}}}', 'features is set, but nacre does not build images'],
  ['{"image":"a","privileged":true}', 'privileged is not allowed'],
  ['{"image":"a","capAdd":["SYS_ADMIN"]}', 'capAdd is not allowed'],
  ['{"image":"a","securityOpt":["seccomp=unconfined"]}', 'securityOpt is not allowed'],
  ['{"image":"a","runArgs":["-v","/:/host"]}', 'runArgs is not allowed'],
  [
    '{"image":"a","mounts":["source=/,target=/host,type=bind"]}',
    'the mount of / is not a bind mount of a folder in',
  ],
  [
    '{"image":"a","mounts":["source=${localEnv:HOME}/.ssh,target=/s,type=bind"]}',
    'the mount of /home/me/.ssh',
  ],
  [
    '{"image":"a","mounts":["source=${localWorkspaceFolder}/../x,target=/x"]}',
    'is not a bind mount of a folder in',
  ],
  [
    '{"image":"a","mounts":["source=${localWorkspaceFolder}/outside,target=/x"]}',
    'is not a bind mount of a folder in',
  ],
  ['{"image":"a","mounts":["source=db,target=/x,type=volume"]}', 'is not a bind mount of a folder in'],
  ['{"image":"a","workspaceMount":"source=/etc,target=/w,type=bind"}', 'the mount of /etc'],
  [
    '{"image":"a","remoteEnv":{"PATH":"${containerEnv:PATH}:/x"}}',
    'remoteEnv.PATH uses ${containerEnv:PATH}',
  ],
  ['{"image":"a","remoteEnv":{"A B":"x"}}', 'remoteEnv has an invalid name'],
  ['{"image":"a b"}', 'image must be a string without spaces'],
  ['{"name":"x"}', 'it has no image'],
  ['{"image":', 'the JSON is invalid'],
  ['[]', 'the top level must be an object'],
])('%s is refused', (text, problem) => {
  expect(read(text).road).toThrow(problem);
});
