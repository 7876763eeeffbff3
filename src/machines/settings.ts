import { sandboxNames } from '../contract/isolation.ts';
import { presetNames } from '../policy/presets.ts';
import { defineSettings } from '../settings/define.ts';
import { type OutputOf, s } from '../settings/schema.ts';

const names = s.list(s.text().min(1));
const size = s
  .text()
  .regex(/^\d{1,12}(?:\.\d{1,3})?\s*(?:[kmgt](?:i?b)?|b)?$/i, 'must be a size, such as 512m or 2g')
  .orNumber(1, Number.MAX_SAFE_INTEGER);
const duration = s
  .text()
  .regex(/^\d{1,9}(?:s|m|min|h|d)$/, 'must be a duration, such as 30min or 1h')
  .orNumber(1, 31_536_000);
// A text that a program could read as an option must not begin with a dash.
const word = s.text().regex(/^[^\s\-\0][^\s\0]{0,254}$/, 'must be one word that does not begin with a dash');
const path = s.text().regex(/^(?:\/|~\/)[^\0]*$/, 'must be an absolute path, or begin with ~/');
const variable = s.text().regex(/^[A-Za-z_][A-Za-z0-9_]*=[^\0]*$/, 'must be NAME=value');
const quantity = s
  .text()
  .regex(/^\d{1,15}(?:\.\d{1,9})?(?:m|k|Ki|M|Mi|G|Gi|T|Ti)?$/, 'must be a quantity, such as 500m or 4Gi')
  .orNumber(1, 1_000_000_000_000);

const container = s.object({
  image: word.optional(),
  container: word.optional(),
  host: word.optional(),
  pull: s.choice(['missing', 'always', 'never']).optional(),
  network: s.choice(['none', 'bridge']).optional(),
  mount: s.choice(['workspace', 'none']).optional(),
  mounts: s
    .list(
      s
        .text()
        .regex(/^(?:\/|~\/)[^:\0]*:\/[^:\0]*(?::r[ow])?$/, 'must be /source:/target or /source:/target:ro'),
    )
    .max(100)
    .optional(),
  memory: size.optional(),
  cpus: s
    .text()
    .regex(/^\d{1,4}(?:\.\d{1,3})?$/, 'must be a number, such as 2 or 0.5')
    .orDecimal(0.01, 4_096)
    .optional(),
  pids: s.int().min(16).max(4_194_304).optional(),
  user: word.optional(),
  env: s.list(variable).max(1_000).optional(),
  read_only: s.boolean().optional(),
});

const kubernetes = s.object({
  image: word,
  context: word.optional(),
  kubeconfig: path.optional(),
  namespace: word.optional(),
  cpu: quantity.optional(),
  memory: quantity.optional(),
  deadline: duration.optional(),
  runtime_class: word.optional(),
  service_account: word.optional(),
  env: s.list(variable).max(1_000).optional(),
});

const slurm = s.object({
  login: word.optional(),
  ssh_config: path.optional(),
  partition: word.optional(),
  account: word.optional(),
  gres: word.optional(),
  cpus: s.int().min(1).max(100_000).optional(),
  memory: s
    .text()
    .regex(/^\d{1,12}[KMGT]?$/, 'must be a size as in Slurm, such as 4G')
    .orNumber(1, 1_000_000_000_000)
    .optional(),
  time: duration.optional(),
});

const limits = s.object({
  memory_bytes: s.int().min(16_777_216).max(1_125_899_906_842_624).optional(),
  tree_memory_bytes: s.int().min(16_777_216).max(1_125_899_906_842_624).optional(),
  max_processes: s.int().min(4).max(4_194_304).optional(),
  cpu_seconds: s.int().min(1).max(31_536_000).optional(),
  file_bytes: s.int().min(1_024).max(1_125_899_906_842_624).optional(),
});

const machine = s.object({
  ssh: word.optional(),
  ssh_config: path.optional(),
  docker: container.optional(),
  podman: container.optional(),
  devcontainer: s.choice(['docker', 'podman']).optional(),
  kubernetes: kubernetes.optional(),
  slurm: slurm.optional(),
  program: s.list(s.text()).min(1).max(1_000).optional(),
  description: s.text().min(1).max(200).optional(),
  allow: names.optional(),
  preset: s.choice(presetNames).optional(),
  cwd_roots: s.list(path).max(1_000).optional(),
  sandbox: s.choice(sandboxNames).optional(),
  limits: limits.optional(),
  tokens: names.optional(),
  orphan_ms: s.int().min(1_000).max(2_147_483_647).optional(),
  hidden: s.boolean().optional(),
});

/** An entry of the setting `machines`. */
export type MachineEntry = OutputOf<typeof machine>;

/** Settings for other machines. */
export const machineSettings = defineSettings({
  machines: s
    .map(
      machine,
      /^[a-z][a-z0-9_-]{0,31}$/,
      'must be a short name of a-z, 0-9, _ and - that begins with a letter',
    )
    .default({})
    .meta({
      description:
        'Other machines, by name. Each entry has exactly one of ssh, docker, podman, devcontainer, kubernetes, slurm and program. Commands choose a machine with on.',
      accepts: 'a mapping of names to machines, such as gpu1: { ssh: gpu1, allow: [python3] }',
      unset: 'none',
      project: 'alongside',
    }),
  defaultMachine: s.text().min(1).optional().meta({
    env: 'NACRE_DEFAULT_MACHINE',
    flag: '--default-machine',
    description:
      'The machine for commands without on. If it is another machine, only the local user can run commands on this machine, unless machines has an entry local.',
    accepts: 'a name in machines',
    unset: 'this machine',
  }),
});
