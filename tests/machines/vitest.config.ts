import { defineConfig } from 'vitest/config';

// `npm run test:machines`: real ssh machines, container engines and clusters, which each test file starts and stops.
export default defineConfig({
  test: {
    include: ['tests/machines/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    // The machines that the files start compete for the same cores.
    maxWorkers: 1,
    reporters: ['verbose', './tests/support/skip-reporter.ts'],
    globalSetup: ['tests/support/build.ts'],
    setupFiles: ['tests/support/leave-nothing.ts'],
  },
});
