import type { Reporter, TestModule } from 'vitest/node';
import { filesLeftOut } from './program-needs.ts';

/** Prints how many tests and files were left out for each reason, after the summary of the run. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = countReasons(modules);
    for (const [need, files] of filesLeftOut)
      console.log(` Left out, because they need ${need}: ${files.join(', ')}`);
    for (const [reason, count] of counts)
      console.log(` Skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}`);
  }
}

function countReasons(modules: readonly TestModule[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const result = test.result();
      const reason = (result.state === 'skipped' && result.note) || 'no reason given';
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
  return counts;
}
