import type { SandboxName } from '../../contract/isolation.ts';
import type { Environment } from '../machine/environment.ts';

/**
 * Variables that move caches to `folder`, by default in the /tmp of a sandbox: the home directory is not writable
 * there, and npm does not work without a cache. A location that is already set stays.
 */
export function toCacheEnvironment(
  sandbox: SandboxName,
  env: Environment,
  folder = '/tmp/cache',
): Environment {
  if (sandbox === 'off') return {};
  const isSet = 'npm_config_cache' in env || 'NPM_CONFIG_CACHE' in env;
  return {
    ...('XDG_CACHE_HOME' in env ? {} : { XDG_CACHE_HOME: folder }),
    ...(isSet ? {} : { npm_config_cache: `${folder}/npm` }),
  };
}
