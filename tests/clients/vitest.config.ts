import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/clients/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 30_000,
    // Clients wait for nacre most of the time, so two at a time suit two cores.
    maxWorkers: 2,
    reporters: ['verbose', './tests/support/skip-reporter.ts'],
    setupFiles: ['tests/clients/remove-places.ts'],
  },
});
