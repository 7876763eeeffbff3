// Decides about the client's own shell, which only `--own-shell off` or an answer at a terminal turns off.
import type { Client, ClientMachine, Scope } from '../../../clients/clients.ts';
import { openConfigFile } from '../../../clients/config-file.ts';
import { type OwnShell, ownShells, turnOwnShell, withoutSetting } from '../../../clients/own-shell.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Ask } from '../../ask.ts';
import { showChanges } from '../../show-changes.ts';

/** The client whose own shell is meant, and where its files are. */
export interface OwnShellContext {
  readonly name: string;
  readonly client: Client;
  readonly scope: Scope;
  readonly machine: ClientMachine;
  readonly backupDir: string;
}

/** A step that runs after the entry was written; returns lines for the user. */
export type OwnShellStep = () => readonly string[];

/** Returns the step that applies the decision; nothing is written before it runs. */
export async function chooseOwnShell(
  context: OwnShellContext,
  flag: 'on' | 'off' | undefined,
  ask: Ask | undefined,
): Promise<OwnShellStep> {
  const { name, client, scope, machine } = context;
  const shell = Object.hasOwn(ownShells, name) ? ownShells[name] : undefined;
  if (shell === undefined) return withoutShell(name, flag);
  const path = shell.file(scope, machine);
  const { text } = openConfigFile(path);
  // Refuses a file that cannot be edited before anything is written.
  const isOff = turnOwnShell(shell, text, 'off', path) === text;
  if (flag === undefined && isOff) return () => [`${client.title}'s own shell is off (${path}).`];
  const state = flag ?? (await askAbout(client, shell, path, ask));
  return state === undefined ? () => [stillOn(name, client)] : () => turn(context, shell, path, state);
}

// The entry may be in the same file, so the file is read again after the entry was written.
function turn(
  { client, backupDir }: OwnShellContext,
  shell: OwnShell,
  path: string,
  state: 'on' | 'off',
): readonly string[] {
  const file = openConfigFile(path);
  const text = turnOwnShell(shell, file.text, state, path);
  if (text === file.text) return [`${client.title}'s own shell was already ${state} (${path}).`];
  file.replace(text, backupDir);
  return [
    `${client.title}'s own shell is now ${state}. ${path} was updated:`,
    ...showChanges(file.text, text),
  ];
}

/**
 * After the entry was removed: applies the flag, or warns that the own shell is still off, so that the client has no
 * shell.
 */
export async function restoreOwnShell(
  context: OwnShellContext,
  flag: 'on' | 'off' | undefined,
): Promise<readonly string[]> {
  const { name, client, scope, machine } = context;
  if (flag !== undefined) return (await chooseOwnShell(context, flag, undefined))();
  const shell = Object.hasOwn(ownShells, name) ? ownShells[name] : undefined;
  const path = shell?.file(scope, machine);
  if (shell === undefined || path === undefined) return [];
  const { text } = openConfigFile(path);
  if (turnOwnShell(shell, text, 'off', path) !== text) return [];
  return [`${client.title}'s own shell is still off (${path}); add --own-shell on to turn it on.`];
}

function withoutShell(name: string, flag: 'on' | 'off' | undefined): OwnShellStep {
  const reason = withoutSetting[name] ?? '';
  if (flag === undefined) return () => (name === 'claude-desktop' ? [] : [reason]);
  throw new NacreError('invalid_request', `--own-shell: ${reason}`, {
    hint: 'Omit --own-shell; nothing was written.',
  });
}

async function askAbout(
  { title }: Client,
  { setting }: OwnShell,
  path: string,
  ask: Ask | undefined,
): Promise<'off' | undefined> {
  return ask?.one(
    `${title} also has its own shell, which bypasses nacre. Turn it off (${setting} in ${path})? yes or no [no]: `,
    (answer) => {
      if (/^y(es)?$/i.test(answer)) return 'off';
      if (answer === '' || /^no?$/i.test(answer)) return undefined;
      throw new NacreError('invalid_request', 'Answer yes or no.', { hint: 'Enter means no.' });
    },
  );
}

function stillOn(name: string, { title }: Client): string {
  return `${title}'s own shell is still on and bypasses nacre; nacre init ${name} --own-shell off turns it off.`;
}
