import { expect, test } from 'vitest';
import { toCacheEnvironment } from './cache-environment.ts';

const nowhere = () => false;

test('caches in a sandbox are in its private /tmp, unless a location is set', () => {
  expect(toCacheEnvironment({ sandbox: 'off', canReach: () => true }, {})).toEqual({});
  expect(toCacheEnvironment({ sandbox: 'workspace', canReach: nowhere }, {})).toEqual({
    XDG_CACHE_HOME: '/tmp/cache',
    npm_config_cache: '/tmp/cache/npm',
  });
  const strict = { sandbox: 'strict', canReach: nowhere } as const;
  expect(toCacheEnvironment(strict, { XDG_CACHE_HOME: '/c', NPM_CONFIG_CACHE: '/n' })).toEqual({});
  expect(toCacheEnvironment({ ...strict, folder: '/f' }, { npm_config_cache: '/n' })).toEqual({
    XDG_CACHE_HOME: '/f',
  });
});

test('a package manager downloads to /tmp if its registry can be reached, and otherwise reads its usual folder', () => {
  const canReach = (host: string) => ['index.crates.io', 'proxy.golang.org'].includes(host);
  expect(toCacheEnvironment({ sandbox: 'workspace', canReach }, { GOMODCACHE: '/mine' })).toEqual({
    XDG_CACHE_HOME: '/tmp/cache',
    npm_config_cache: '/tmp/cache/npm',
    CARGO_HOME: '/tmp/cache/cargo',
  });
});
