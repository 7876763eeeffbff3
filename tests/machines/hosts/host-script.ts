import { fileURLToPath } from 'node:url';

/** The path of a script in this folder. Benchmarks are bundled into another folder, and name the root of the repository. */
export function hostScript(name: string): string {
  const { NACRE_TEST_ROOT: root } = process.env;
  return root === undefined
    ? fileURLToPath(new URL(`${name}.sh`, import.meta.url))
    : `${root}tests/machines/hosts/${name}.sh`;
}
