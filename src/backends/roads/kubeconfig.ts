// Reads how to reach a cluster from a kubeconfig, or from the service account of the pod that nacre runs in.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { NacreError } from '../../contract/failure.ts';
import type { KubernetesRoad } from '../../contract/machine.ts';
import { expandHome } from '../../support/expand-home.ts';
import { isObject } from '../../support/is-object.ts';
import { machineUnusable } from './road-errors.ts';

type Environment = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

/** A cluster, and the user that a kubeconfig names. */
export interface Cluster {
  readonly server: URL;
  readonly namespace: string;
  /** Options of TLS. */
  readonly tls: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    readonly servername?: string | undefined;
    readonly rejectUnauthorized: boolean;
  };
  readonly token?: string | undefined;
  /** A program that prints the credentials. */
  readonly plugin?: ExecPlugin | undefined;
}

/** A credential plugin, as in `users[].user.exec`. */
export interface ExecPlugin {
  readonly argv: readonly [string, ...string[]];
  readonly env: Environment;
  readonly apiVersion: string;
}

type Choice = Pick<KubernetesRoad, 'context' | 'kubeconfig' | 'namespace'>;

/** Reads the cluster of a machine; throws an error that names the file and the missing part. */
export function readCluster(name: string, choice: Choice, environment: Environment): Cluster {
  const home = environment.HOME ?? homedir();
  const files = choice.kubeconfig
    ? [expandHome(choice.kubeconfig, home)]
    : (environment.KUBECONFIG ?? join(home, '.kube/config')).split(delimiter).filter((path) => path !== '');
  const parts = files.flatMap((path) => readFile(name, path, choice.kubeconfig !== undefined));
  if (parts.length === 0) return readInCluster(name, choice, environment, files);
  return toCluster(name, choice, new Config(name, files.join(delimiter), parts));
}

interface Part {
  readonly folder: string;
  readonly fields: Fields;
}

function readFile(name: string, path: string, isNamed: boolean): readonly Part[] {
  try {
    const fields: unknown = parse(readFileSync(path, 'utf8'), { maxAliasCount: 0 });
    return isObject(fields) ? [{ folder: dirname(path), fields }] : [];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNamed) return [];
    throw machineUnusable(
      name,
      `${path} cannot be read: ${message.split('\n')[0]}`,
      `Correct this file, or set machines.${name}.kubernetes.kubeconfig to another one.`,
    );
  }
}

/** One or more kubeconfig files. If several have an entry of the same name, the first one is used. */
class Config {
  readonly #name: string;
  readonly #files: string;
  readonly #parts: readonly Part[];

  constructor(name: string, files: string, parts: readonly Part[]) {
    this.#name = name;
    this.#files = files;
    this.#parts = parts;
  }

  invalid(
    problem: string,
    hint = 'Correct the kubeconfig, or set context and kubeconfig of this machine.',
  ): NacreError {
    return machineUnusable(this.#name, `in ${this.#files}, ${problem}`, hint);
  }

  get currentContext(): string | undefined {
    return this.#parts
      .map(({ fields }) => toText(fields['current-context']))
      .find((text) => text !== undefined);
  }

  /** The entry of a list, such as `contexts`, and the folder to which its paths are relative. */
  find(list: string, kind: string, key: string): Part {
    for (const { folder, fields } of this.#parts) {
      const entries = Array.isArray(fields[list]) ? fields[list].filter(isObject) : [];
      const entry = entries.find((one) => one.name === key)?.[kind];
      if (isObject(entry)) return { folder, fields: entry };
    }
    throw this.invalid(`there is no ${kind} ${JSON.stringify(key)}`);
  }
}

function toCluster(name: string, choice: Choice, config: Config): Cluster {
  const contextName = choice.context ?? config.currentContext;
  if (contextName === undefined || contextName === '') throw config.invalid('there is no current context');
  const context = config.find('contexts', 'context', contextName).fields;
  const cluster = config.find('clusters', 'cluster', toText(context.cluster) ?? '');
  const user = config.find('users', 'user', toText(context.user) ?? '');
  if (cluster.fields['proxy-url'] !== undefined)
    throw config.invalid('the cluster has a proxy-url, which is not supported');
  if (user.fields['auth-provider'] !== undefined)
    throw config.invalid(
      'the user has an auth-provider, which is not supported',
      'Use a credential plugin (exec) or a token.',
    );
  const server = toText(cluster.fields.server) ?? '';
  if (!URL.canParse(server)) throw config.invalid(`the server ${JSON.stringify(server)} is not a valid URL`);
  return {
    server: new URL(server),
    namespace: choice.namespace ?? toText(context.namespace) ?? 'default',
    tls: {
      ca: readPart(name, cluster, 'certificate-authority'),
      cert: readPart(name, user, 'client-certificate'),
      key: readPart(name, user, 'client-key'),
      servername: toText(cluster.fields['tls-server-name']),
      rejectUnauthorized: cluster.fields['insecure-skip-tls-verify'] !== true,
    },
    token: toText(user.fields.token) ?? readToken(name, user),
    plugin: toPlugin(config, user.fields.exec),
  };
}

// `certificate-authority-data` is the content in base64, `certificate-authority` a path.
function readPart(name: string, { folder, fields }: Part, key: string): string | undefined {
  const data = toText(fields[`${key}-data`]);
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  const path = toText(fields[key]);
  return path === undefined ? undefined : readText(name, resolve(folder, path));
}

function readToken(name: string, { folder, fields }: Part): string | undefined {
  const path = toText(fields.tokenFile);
  return path === undefined ? undefined : readText(name, resolve(folder, path)).trim();
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw machineUnusable(
      name,
      `${path} cannot be read: ${(error as Error).message}`,
      `Correct this file, or set machines.${name}.kubernetes.kubeconfig to another one.`,
    );
  }
}

function toPlugin(config: Config, exec: unknown): ExecPlugin | undefined {
  if (exec === undefined) return undefined;
  const command = isObject(exec) ? toText(exec.command) : undefined;
  if (!isObject(exec) || command === undefined) throw config.invalid('the credential plugin has no command');
  const args = Array.isArray(exec.args) ? exec.args.map(String) : [];
  const env = Array.isArray(exec.env) ? exec.env.filter(isObject) : [];
  return {
    argv: [command, ...args],
    env: Object.fromEntries(env.map(({ name, value }) => [String(name), String(value)])),
    apiVersion: toText(exec.apiVersion) ?? 'client.authentication.k8s.io/v1',
  };
}

const account = '/var/run/secrets/kubernetes.io/serviceaccount';

function readInCluster(
  name: string,
  choice: Choice,
  environment: Environment,
  files: readonly string[],
): Cluster {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (!host)
    throw machineUnusable(
      name,
      `there is no kubeconfig at ${files.join(' or ')}`,
      'Set kubeconfig of this machine, or KUBECONFIG.',
    );
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: choice.namespace ?? readText(name, `${account}/namespace`).trim(),
    tls: { ca: readText(name, `${account}/ca.crt`), rejectUnauthorized: true },
    token: readText(name, `${account}/token`).trim(),
  };
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
