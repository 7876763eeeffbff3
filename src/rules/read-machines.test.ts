import { expect, test } from 'vitest';
import { resolveSettings } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { readMachines } from './read-machines.ts';

const read = (user: string, project?: string) =>
  readMachines(
    resolveSettings(
      {
        user: { path: '/home/ann/config.yaml', text: user },
        ...(project !== undefined && { project: { path: '/p/nacre.yaml', text: project } }),
      },
      allSettings,
    ),
  );

const machinesOf = (user: string, project?: string) => read(user, project)?.others ?? [];

test('without machines there is nothing to choose', () => {
  expect(read('preset: dev')).toBeUndefined();
});

test('every road is read with its defaults', () => {
  const text = `
machines:
  gpu1: { ssh: gpu1, cwd_roots: [~/jobs], allow: [python3, nvidia-smi] }
  box: { docker: { image: "node:22", network: none, memory: 2g, cpus: 0.5, mounts: ["/data:/data:ro"] } }
  ci: { podman: { container: ci-1 } }
  lab: { kubernetes: { image: "python:3.12", cpu: 2, memory: 4Gi, deadline: 30min } }
  hpc: { slurm: { partition: gpu, gres: "gpu:1", time: 1h, login: login1 } }
  dev: { devcontainer: docker, preset: read-only }
`;
  const [gpu1, box, ci, lab, hpc, dev] = machinesOf(text);
  expect(gpu1).toMatchObject({
    name: 'gpu1',
    road: { kind: 'ssh', host: 'gpu1' },
    allow: ['python3', 'nvidia-smi'],
    cwdRoots: ['~/jobs'],
    orphanMs: 600_000,
  });
  expect(box?.road).toMatchObject({
    ...{ kind: 'docker', image: 'node:22', network: 'none', mount: 'workspace', pull: 'missing' },
    ...{ memoryBytes: 2 * 1024 ** 3, cpuMillis: 500 },
    mounts: [{ source: '/data', target: '/data', isReadOnly: true }],
  });
  expect(ci?.road).toMatchObject({ kind: 'podman', container: 'ci-1' });
  expect(lab?.road).toMatchObject({ kind: 'kubernetes', cpu: '2', memory: '4Gi', deadlineSeconds: 1_800 });
  expect(hpc?.road).toMatchObject({ kind: 'slurm', login: 'login1', timeSeconds: 3_600 });
  expect(dev).toMatchObject({ road: { kind: 'devcontainer', engine: 'docker' }, fileWrites: 'none' });
  expect(dev?.allow).toContain('cat');
});

test.each([
  ['machines: { gpu1: { allow: [git] } }', 'machines.gpu1: it has no road; give it exactly one of ssh,'],
  ['machines: { a: { ssh: a, program: [b] } }', 'machines.a: it has the roads ssh and program;'],
  ['machines: { a: { ssh: "-oProxyCommand=x" } }', 'machines.a ssh must be one word that does not begin'],
  ['machines: { a: { shh: b } }', 'machines.a: there is no field "shh". Did you mean ssh?'],
  ['machines: { a: { docker: { imag: b } } }', 'there is no field "imag" in docker. Did you mean image?'],
  ['machines: { A: { ssh: b } }', 'machines.A must be a short name'],
  ['machines: { __proto__: { ssh: b } }', 'machines.__proto__ must be a short name'],
  ['machines: { a: { docker: {} } }', 'docker needs either image'],
  ['machines: { a: { docker: { container: c, memory: 1g } } }', 'docker.memory applies to a new container'],
  ['machines: { local: { ssh: b } }', 'local is this machine, so ssh has no meaning'],
  ['machines: [gpu1]', 'machines cannot be ["gpu1"]; expected a mapping of names to machines'],
  ['machines: { a: { ssh: b } }\ndefault_machine: c', 'default_machine: machines has no entry c.'],
  ['default_machine: c', 'default_machine: machines has no entry c.'],
])('%s is an error that names the entry', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('with a default machine, this machine is offered only if the settings list it', () => {
  const box = 'box: { ssh: box }';
  expect(read(`machines: { ${box} }`)).toMatchObject({ defaultName: 'local', isLocalOffered: true });
  expect(read(`machines: { ${box} }\ndefault_machine: box`)).toMatchObject({
    ...{ defaultName: 'box', isLocalOffered: false },
  });
  const listed = read(`machines: { ${box}, local: { tokens: [ci] } }\ndefault_machine: box`);
  expect(listed).toMatchObject({ isLocalOffered: true, localTokens: ['ci'] });
});

const two = 'machines: { a: { ssh: a, allow: [git, make], sandbox: workspace }, b: { ssh: b } }';

test('a project file narrows machines', () => {
  const project = `
machines:
  a: { allow: [git, rm], cwd_roots: [/srv], sandbox: strict, limits: { cpu_seconds: 9 } }
  b: { hidden: true }
  unknown: { hidden: true }
`;
  const machines = machinesOf(two, project);
  expect(machines.map(({ name }) => name)).toEqual(['a']);
  expect(machines[0]).toMatchObject({
    ...{ allow: ['git'], projectRoots: ['/srv'], sandbox: 'strict', limits: { cpuSeconds: 9 } },
  });
});

test('the general restrictions of a project file apply to every machine', () => {
  const project = 'allowed_commands: [git]\nsandbox: strict\ncpu_seconds: 5\nfile_writes: none';
  const [a, b] = machinesOf(two, project);
  expect(a).toMatchObject({
    allow: ['git'],
    sandbox: 'strict',
    limits: { cpuSeconds: 5 },
    fileWrites: 'none',
  });
  expect(b).toMatchObject({ allow: undefined, sandbox: 'strict' });
});

test.each([
  ['machines: { a: { sandbox: off } }', { sandbox: 'workspace' }],
  ['machines: { a: { allow: ["*"] } }', { allow: ['git', 'make'] }],
])('a project file with %s widens nothing', (project, expected) => {
  expect(machinesOf(two, project)[0]).toMatchObject(expected);
});

test.each([
  ['machines: { c: { ssh: evil } }', 'machines.c: a project file cannot set ssh'],
  ['machines: { a: { tokens: [x] } }', 'machines.a: a project file cannot set tokens'],
  ['machines: { a: { program: [sh] } }', 'machines.a: a project file cannot set program'],
  ['default_machine: b', 'default_machine is not allowed in a project file'],
])('a project file cannot contain %s', (project, message) => {
  expect(() => read(two, project)).toThrow(message);
});

test('a project file cannot hide the default machine, which would move commands to this one', () => {
  const user = 'machines: { box: { ssh: box } }\ndefault_machine: box';
  expect(() => read(user, 'machines: { box: { hidden: true } }')).toThrow('hides box');
});
