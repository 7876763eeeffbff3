import quickpickle from 'quickpickle';
import { defineConfig } from 'vitest/config';
import { filesLeftOut } from './tests/support/program-needs.ts';

// Each of these gets a new process: those of the guard drop its capabilities, `patterns` observes modules while they are
// loaded for the first time, and `default-instance` needs a process in which `createNacre` was not called before.
const ownProcess = [
  'tests/patterns.test.ts',
  'tests/functions/default-instance.test.ts',
  'src/worker/guard/guard.test.ts',
  'src/worker/guard/guard-files.test.ts',
  'src/worker/guard/libc.test.ts',
];

const leftOut = filesLeftOut.flatMap(([, files]) => files);

export default defineConfig({
  test: {
    testTimeout: 40_000,
    hookTimeout: 40_000,
    // One second, the default, is not enough on a busy machine. Shorter than `testTimeout`, so that a failure shows the value.
    expect: { poll: { timeout: 20_000 } },
    // Tests wait more than they compute, so three workers suit two cores.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'code',
          include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: [...ownProcess, ...leftOut, 'tests/clients/**', 'tests/machines/**'],
          // The files that a worker runs share their modules: importing them again for each file took half of the CPU time.
          isolate: false,
          globalSetup: ['tests/support/build.ts'],
          setupFiles: ['tests/support/leave-nothing.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'own-process', include: ownProcess },
      },
      {
        extends: true,
        plugins: [quickpickle({ stepTimeout: 20_000 })],
        test: {
          name: 'features',
          isolate: false,
          include: ['features/**/*.feature'],
          exclude: leftOut,
          setupFiles: ['tests/support/leave-nothing.ts', 'tests/steps/all-steps.ts'],
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'json-summary', 'html'],
      thresholds: { lines: 90, branches: 90, functions: 90, statements: 90 },
    },
  },
});
