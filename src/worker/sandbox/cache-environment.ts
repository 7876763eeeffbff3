import type { SandboxName } from '../../contract/isolation.ts';
import type { Environment } from '../machine/environment.ts';

/**
 * Leads caches to the private /tmp of a sandbox: in the home directory, where programs have them, nothing can be
 * written, and npm does not work without one. Where somebody has chosen a place, it stays.
 */
export function toCacheEnvironment(sandbox: SandboxName, env: Environment): Environment {
  if (sandbox === 'off') return {};
  const isChosen = 'npm_config_cache' in env || 'NPM_CONFIG_CACHE' in env;
  return {
    ...('XDG_CACHE_HOME' in env ? {} : { XDG_CACHE_HOME: '/tmp/cache' }),
    ...(isChosen ? {} : { npm_config_cache: '/tmp/cache/npm' }),
  };
}
