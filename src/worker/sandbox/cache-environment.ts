import type { SandboxName } from '../../contract/isolation.ts';
import type { Environment } from '../machine/environment.ts';

/** The facts about a sandbox that decide where its caches are. */
export interface CachePlace {
  readonly sandbox: SandboxName;
  /** The folder for caches; /tmp/cache by default. */
  readonly folder?: string | undefined;
  /** Whether commands can reach a host. */
  canReach(host: string): boolean;
}

/**
 * Variables that move caches to `folder`, by default in the /tmp of a sandbox: the home directory is not writable
 * there, and npm does not work without a cache. Variables that are already set keep their values.
 */
export function toCacheEnvironment(
  { sandbox, folder = '/tmp/cache', canReach }: CachePlace,
  env: Environment,
): Environment {
  if (sandbox === 'off') return {};
  const isSet = 'npm_config_cache' in env || 'NPM_CONFIG_CACHE' in env;
  const downloads = downloadFolders
    .filter(({ variable, host }) => !(variable in env) && canReach(host))
    .map(({ variable, name }) => [variable, `${folder}/${name}`]);
  return {
    ...('XDG_CACHE_HOME' in env ? {} : { XDG_CACHE_HOME: folder }),
    ...(isSet ? {} : { npm_config_cache: `${folder}/npm` }),
    ...Object.fromEntries(downloads),
  };
}

// These package managers download to the home directory, regardless of XDG_CACHE_HOME. Without network access to their
// registry they can only read existing caches, so the variable is set only where downloading is possible.
const downloadFolders = [
  { variable: 'CARGO_HOME', name: 'cargo', host: 'index.crates.io' },
  { variable: 'GOMODCACHE', name: 'go-mod', host: 'proxy.golang.org' },
  { variable: 'PNPM_HOME', name: 'pnpm', host: 'registry.npmjs.org' },
  { variable: 'YARN_GLOBAL_FOLDER', name: 'yarn', host: 'registry.yarnpkg.com' },
] as const;
