import { expect, test } from 'vitest';
import { toCacheEnvironment } from './cache-environment.ts';

test('caches in a sandbox are in its private /tmp, unless a location is set', () => {
  expect(toCacheEnvironment('off', {})).toEqual({});
  expect(toCacheEnvironment('workspace', {})).toEqual({
    XDG_CACHE_HOME: '/tmp/cache',
    npm_config_cache: '/tmp/cache/npm',
  });
  expect(toCacheEnvironment('strict', { XDG_CACHE_HOME: '/c', NPM_CONFIG_CACHE: '/n' })).toEqual({});
  expect(toCacheEnvironment('strict', { npm_config_cache: '/n' })).toEqual({ XDG_CACHE_HOME: '/tmp/cache' });
});
