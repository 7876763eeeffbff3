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
  ['{"build":{"dockerfile":"Dockerfile"}}', 'build needs an image to be built'],
  ['{"dockerFile":"Dockerfile"}', 'dockerFile needs an image to be built'],
  ['{"dockerComposeFile":["a.yml"],"service":"app"}', 'dockerComposeFile needs an image to be built'],
  ['{"image":"a","features":{"ghcr.io/x/y:1":{}}}', 'features needs an image to be built'],
  ['{"image":"a","privileged":true}', 'privileged would give the project more'],
  ['{"image":"a","capAdd":["SYS_ADMIN"]}', 'capAdd would give the project more'],
  ['{"image":"a","securityOpt":["seccomp=unconfined"]}', 'securityOpt would give the project more'],
  ['{"image":"a","runArgs":["-v","/:/host"]}', 'runArgs would give the project more'],
  ['{"image":"a","mounts":["source=/,target=/host,type=bind"]}', 'the mount of / is not one of a folder in'],
  [
    '{"image":"a","mounts":["source=${localEnv:HOME}/.ssh,target=/s,type=bind"]}',
    'the mount of /home/me/.ssh',
  ],
  ['{"image":"a","mounts":["source=${localWorkspaceFolder}/../x,target=/x"]}', 'is not one of a folder in'],
  [
    '{"image":"a","mounts":["source=${localWorkspaceFolder}/outside,target=/x"]}',
    'is not one of a folder in',
  ],
  ['{"image":"a","mounts":["source=db,target=/x,type=volume"]}', 'is not one of a folder in'],
  ['{"image":"a","workspaceMount":"source=/etc,target=/w,type=bind"}', 'the mount of /etc'],
  [
    '{"image":"a","remoteEnv":{"PATH":"${containerEnv:PATH}:/x"}}',
    'remoteEnv.PATH uses ${containerEnv:PATH}',
  ],
  ['{"image":"a","remoteEnv":{"A B":"x"}}', 'remoteEnv has an invalid name'],
  ['{"image":"a b"}', 'image is not one word'],
  ['{"name":"x"}', 'it has no image'],
  ['{"image":', 'there is a mistake'],
  ['[]', 'there is no mapping'],
])('%s is refused', (text, problem) => {
  expect(read(text).road).toThrow(problem);
});
