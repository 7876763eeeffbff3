import { expect, test } from 'vitest';
import config from '../vitest.config.ts';

test('B16: the test run fails if coverage is below 90 %', () => {
  const { thresholds } = (config as { test: { coverage: { thresholds: Record<string, number> } } }).test
    .coverage;
  for (const unit of ['lines', 'branches', 'functions', 'statements'])
    expect(thresholds[unit]).toBeGreaterThanOrEqual(90);
});
