import { expect, test } from 'vitest';
import config from '../vitest.config.ts';

test('B16: the tests fail where they cover less than nine tenths of the code', () => {
  const { thresholds } = (config as { test: { coverage: { thresholds: Record<string, number> } } }).test
    .coverage;
  for (const what of ['lines', 'branches', 'functions', 'statements'])
    expect(thresholds[what]).toBeGreaterThanOrEqual(90);
});
