import quickpickle from 'quickpickle';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'code',
          include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
          globalSetup: ['tests/support/build.ts'],
          setupFiles: ['tests/support/leave-nothing.ts'],
        },
      },
      {
        extends: true,
        plugins: [quickpickle({ stepTimeout: 20_000 })],
        test: {
          name: 'features',
          include: ['features/**/*.feature'],
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
