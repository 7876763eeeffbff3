// The container that a project's `devcontainer.json` describes. The file belongs to the project, so it is not trusted: it chooses the
// image, the variables, the user and mounts of folders in the workspace, but cannot reach anything else on the engine's host.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import type { NacreError } from '../../contract/failure.ts';
import type { ContainerRoad, DevcontainerRoad, MountSettings } from '../../contract/machine.ts';
import { isObject } from '../../support/is-object.ts';
import { readRegularFile } from '../../support/regular-file.ts';
import { tryRealpath } from '../../support/try-realpath.ts';
import { createContainerMachine } from './container.ts';
import { toShown } from './far-messages.ts';
import type { FarDeps, RoadMachine } from './open-far.ts';
import { machineUnusable } from './road-errors.ts';

const maxBytes = 1_048_576;

/** The container of the project as a machine; its file is read at the first use. */
export function createDevcontainerMachine(name: string, road: DevcontainerRoad, deps: FarDeps): RoadMachine {
  let machine: RoadMachine | undefined;
  const get = () => {
    machine ??= createContainerMachine(name, readDevcontainer(name, road.engine, deps), deps);
    return machine;
  };
  return {
    name,
    roots: ['~/.cache/nacre', '/tmp/nacre-UID'],
    run: async (argv) => get().run(argv),
    explain: (end) => machine?.explain(end),
    remove: async () => machine?.remove?.(),
  };
}

/** Reads the project's file; throws if it is missing, or asks for something that is not supported. */
export function readDevcontainer(
  name: string,
  kind: 'docker' | 'podman',
  { cwd, environment }: Pick<FarDeps, 'cwd' | 'environment'>,
): ContainerRoad {
  const workspace = tryRealpath(cwd);
  const file = findFile(name, workspace);
  const fields = new Fields(name, file, workspace, environment.HOME ?? homedir());
  fields.refuse();
  const image = fields.text('image');
  if (image === undefined) throw fields.invalid('it has no image', 'Set image to the name of an image.');
  return {
    ...{ kind, image, pull: 'missing', network: 'bridge', mount: 'workspace', isReadOnly: false },
    user: fields.text('remoteUser') ?? fields.text('containerUser'),
    env: { ...fields.variables('containerEnv'), ...fields.variables('remoteEnv') },
    mounts: fields.mounts(),
  };
}

const fileNames = ['.devcontainer/devcontainer.json', '.devcontainer.json'];

function findFile(name: string, workspace: string): string {
  const found = fileNames.map((path) => join(workspace, path)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw machineUnusable(
    name,
    `${workspace} has neither ${fileNames.join(' nor ')}`,
    'Create one with an image, or start nacre in a project that has one.',
  );
}

const built = ['build', 'dockerFile', 'dockerComposeFile', 'features'];
const widening = ['privileged', 'capAdd', 'securityOpt', 'runArgs'];

/** The fields of a devcontainer.json, with its variables replaced. */
class Fields {
  readonly #name: string;
  readonly #file: string;
  readonly #workspace: string;
  readonly #home: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(name: string, file: string, workspace: string, home: string) {
    this.#name = name;
    this.#file = file;
    this.#workspace = workspace;
    this.#home = home;
    this.#fields = this.#read();
  }

  invalid(problem: string, hint: string): NacreError {
    return machineUnusable(this.#name, `in ${this.#file}, ${problem}`, hint);
  }

  /** Throws if the file sets a field that is not supported and cannot be ignored. */
  refuse(): void {
    const [build] = built.filter((field) => isSet(this.#fields[field]));
    if (build !== undefined)
      throw this.invalid(
        `${build} is set, but nacre does not build images`,
        'Build it yourself, such as with devcontainer build --image-name NAME, and use a file with image: NAME.',
      );
    const [wide] = widening.filter((field) => isSet(this.#fields[field]));
    if (wide !== undefined)
      throw this.invalid(
        `${wide} is not allowed, because it weakens the isolation of the container`,
        'Remove it, or describe the container in your own settings, as a machine with docker or podman.',
      );
  }

  text(field: string): string | undefined {
    const value = this.#fields[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' || value === '' || /[\0\s]/.test(value))
      throw this.invalid(`${field} must be a string without spaces`, `Correct ${field}.`);
    return this.#replace(field, value);
  }

  variables(field: string): Readonly<Record<string, string>> {
    const value = this.#fields[field] ?? {};
    if (!isObject(value)) throw this.invalid(`${field} must be an object`, `Correct ${field}.`);
    return Object.fromEntries(
      // null means that the variable is not set.
      Object.entries(value).flatMap(([key, text]) =>
        text === null ? [] : [[this.#variableName(field, key), this.#replace(`${field}.${key}`, text)]],
      ),
    );
  }

  /** The mounts of the file, and the workspace a second time at `workspaceFolder`. */
  mounts(): readonly MountSettings[] {
    const { mounts = [], workspaceMount } = this.#fields;
    if (!Array.isArray(mounts)) throw this.invalid('mounts must be a list', 'Correct mounts.');
    const given = [...mounts, ...(isSet(workspaceMount) ? [workspaceMount] : [])];
    const target = this.text('workspaceFolder');
    const shows = target !== undefined && target !== this.#workspace && !isSet(workspaceMount);
    return [
      ...(shows ? [{ source: this.#workspace, target, isReadOnly: false }] : []),
      ...given.map((mount) => this.#toMount(mount)),
    ];
  }

  #toMount(mount: unknown): MountSettings {
    const parts = isObject(mount) ? mount : toParts(String(mount));
    const type = parts.type ?? 'bind';
    const source = this.#replace('mounts', parts.source ?? parts.src ?? '');
    const target = this.#replace('mounts', parts.target ?? parts.destination ?? parts.dst ?? '');
    const isInside = `${tryRealpath(source)}/`.startsWith(`${this.#workspace}/`);
    if (type !== 'bind' || !isInside || !isAbsolute(target))
      throw this.invalid(
        `the mount of ${toShown(source) || 'nothing'} is not a bind mount of a folder in ${this.#workspace} to an absolute path`,
        'Mount only folders of the project. For other folders, add a machine with docker or podman to your own settings.',
      );
    return { source: tryRealpath(source), target, isReadOnly: isSet(parts.readonly ?? parts.ro) };
  }

  // Variables of the server are not passed on: `localEnv` is replaced by its default value, except for HOME.
  #replace(field: string, value: unknown): string {
    if (typeof value !== 'string') throw this.invalid(`${field} must be a string`, `Correct ${field}.`);
    return value.replace(/\$\{([^{}]*)\}/g, (_, inner: string) => {
      const [key = '', variable, fallback = ''] = inner.split(':');
      if (key === 'localWorkspaceFolder' || key === 'containerWorkspaceFolder') return this.#workspace;
      if (/^(?:local|container)WorkspaceFolderBasename$/.test(key)) return basename(this.#workspace);
      if (key === 'localEnv') return variable === 'HOME' ? this.#home : fallback;
      throw this.invalid(`${field} uses \${${toShown(inner)}}, which is not supported`, `Correct ${field}.`);
    });
  }

  #variableName(field: string, key: string): string {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return key;
    throw this.invalid(`${field} has an invalid name: ${toShown(key)}`, `Correct ${field}.`);
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const found: unknown = JSON.parse(withoutComments(readRegularFile(this.#file, maxBytes)));
      if (isObject(found)) return found;
    } catch (error) {
      throw this.invalid(`the JSON is invalid: ${toShown((error as Error).message)}`, 'Correct the file.');
    }
    throw this.invalid('the top level must be an object', 'Correct the file.');
  }
}

/** True unless the field is absent, empty or false. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 'false';
}

// `source=/a,target=/b,type=bind,readonly`
function toParts(text: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part, true] : [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

function withoutComments(text: string): string {
  const string = '"(?:[^"\\\\]|\\\\.)*"';
  const keepStrings = (pattern: string, source: string) =>
    source.replace(new RegExp(`(${string})|${pattern}`, 'g'), (_, kept?: string) => kept ?? ' ');
  return keepStrings(',(?=\\s*[}\\]])', keepStrings('//[^\\n]*|/\\*[^]*?\\*/', text.replace(/^\uFEFF/, '')));
}
