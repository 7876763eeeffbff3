// `npm run test:kubernetes`: tests pods of the cluster of KUBECONFIG, or of a cluster of one node that it starts and stops. Its programs are built once from
// Debian's source package, and kept in ~/.cache/nacre-test-kubernetes. With --if-built, nothing is built.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkMachine, installPackages, runForeground, step } from './set-up.mjs';
import { installTestPrograms, kubernetesBuildPrograms, kubernetesPrograms } from './test-programs.mjs';

const script = (name) => fileURLToPath(new URL(`../tests/machines/hosts/${name}.sh`, import.meta.url));
const programs = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'nacre-test-kubernetes');
const isBuilt = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'].every((name) =>
  existsSync(join(programs, name)),
);
const vitest = 'node_modules/.bin/vitest';
const words = ['run', '--config', 'tests/machines/vitest.config.ts', 'tests/machines/kubernetes.test.ts'];

checkMachine();
if (process.env.KUBECONFIG !== undefined) {
  await installPackages();
  await step('Tests in pods of the cluster of KUBECONFIG', vitest, words);
} else if (process.getuid?.() !== 0) {
  console.log(
    'Pods of a real cluster are not tested: KUBECONFIG is not set, and only root can start a cluster.',
  );
} else if (!isBuilt && process.argv.includes('--if-built')) {
  console.log(
    'Pods of a real cluster are not tested: KUBECONFIG is not set, and npm run test:kubernetes has not built a cluster yet.',
  );
} else {
  await testOwnCluster();
}

async function testOwnCluster() {
  await installTestPrograms(
    isBuilt ? kubernetesPrograms : { ...kubernetesPrograms, ...kubernetesBuildPrograms },
  );
  await installPackages();
  if (!isBuilt)
    await step('Building Kubernetes, which takes about eight minutes', script('build-kubernetes'), [
      programs,
    ]);
  const folder = join(mkdtempSync(join(tmpdir(), 'nacre-kubernetes-')), 'k');
  const end = () => execFileSync(script('kubernetes'), ['down', folder], { stdio: 'inherit' });
  let status = 1;
  try {
    console.log('\n> Starting a cluster');
    execFileSync(script('kubernetes'), ['up', folder, programs], { stdio: 'inherit' });
    const env = {
      ...process.env,
      KUBECONFIG: join(folder, 'kubeconfig'),
      NACRE_TEST_IMAGE: 'nacre-test/node',
    };
    console.log('\n> Tests in pods of that cluster');
    ({ status } = await runForeground(vitest, words, { env }));
  } finally {
    end();
    execFileSync('rmdir', [join(folder, '..')]);
  }
  process.exit(status ?? 1);
}
