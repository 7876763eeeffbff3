import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isExhausted, NacreError, toNacreError } from '../../contract/failure.ts';
import { findProgram } from './inspect.ts';

const run = promisify(execFile);
const oldest = [4, 4] as const;

/** The `bash` that runs commands. */
export interface Bash {
  readonly path: string;
  readonly version: string;
}

/** Finds bash and checks its version: macOS ships 3.2, which lacks features that nacre needs. */
export async function findBash(wanted: string | undefined, path: string, limitMs = 5_000): Promise<Bash> {
  const found = wanted ?? findProgram('bash', path);
  if (found === null) {
    throw new NacreError('resources_unavailable', 'bash is not on the PATH.', { hint: installHint });
  }
  const version = await readVersion(found, limitMs);
  if (version === '')
    throw new NacreError('resources_unavailable', `${found} is not bash.`, { hint: installHint });
  if (!isNewEnough(version)) {
    throw new NacreError('resources_unavailable', `${found} is bash ${version}; nacre needs 4.4 or newer.`, {
      hint: installHint,
    });
  }
  return { path: found, version };
}

const installHint =
  'Install a current bash (Debian: apt-get install bash, macOS: brew install bash) or set NACRE_BASH to one.';

/** True for `bash` 4.4 and later. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

async function readVersion(path: string, limitMs: number): Promise<string> {
  const args = ['--norc', '--noprofile', '-c', 'printf %s "$BASH_VERSION"'];
  // With an empty environment there is no BASH_ENV, whose file could print something.
  const options = { env: {}, timeout: limitMs, killSignal: 'SIGKILL' } as const;
  try {
    return (await run(path, args, options)).stdout;
  } catch (cause) {
    if (isExhausted(cause)) throw toNacreError(cause);
    const message = `${path} could not be run as bash.`;
    throw new NacreError('resources_unavailable', message, { hint: installHint, cause });
  }
}
