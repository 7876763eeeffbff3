import { clients } from '../../clients/clients.ts';
import { s } from '../../settings/schema.ts';
import { defineDoor } from '../define-door.ts';
import type { DoorGroup } from '../door.ts';
import { jsonFlag, pathFlag, switchFlag } from '../flag-kinds.ts';

/** Subcommands that set up nacre, its clients and the shell. */
export const setUpCommands: DoorGroup = {
  init: defineDoor({
    summary: 'Configure an agent to start nacre, or remove nacre from it.',
    usage: Object.keys(clients).join(' | '),
    examples: [
      ['nacre init claude-code', 'Ask what may run, show the entry and write it.'],
      ['nacre init cursor --print', 'Show the entry and write nothing.'],
    ],
    flags: {
      scope: s.choice(['user', 'project']).optional().meta({
        flag: '--scope',
        description: 'Write the configuration for all of your projects, or for one project only.',
        unset: 'project for cursor and vscode, user for the others',
      }),
      project: pathFlag(
        '--project',
        'Folder that commands run in.',
        "the current folder for a project, claude-desktop and cursor; otherwise the client's working folder",
      ),
      file: pathFlag(
        '--file',
        "Configuration file to edit instead of the client's usual one.",
        'where the client looks for it',
      ),
      print: switchFlag(
        '--print',
        'Write nothing; print the entry, for any client, or what --remove would do.',
      ),
      remove: switchFlag('--remove', 'Remove the entry.'),
      ownShell: s.choice(['on', 'off']).optional().meta({
        flag: '--own-shell',
        description: "Turn the client's own shell, which bypasses nacre, off or on again.",
        unset: 'asked at a terminal, otherwise left as it is',
      }),
      yes: switchFlag(['--yes', '-y'], 'Ask no questions; use the flags and the proposed values.'),
    },
    load: async () => (await import('./init.ts')).initDoor,
  }),
  config: defineDoor({
    summary: 'Show the values of settings, and where they come from.',
    usage: '[NAME...]',
    examples: [
      ['nacre config', 'Show every setting and where its value comes from.'],
      ['nacre config --origin sandbox network', 'Show two settings and what their values override.'],
    ],
    flags: {
      json: jsonFlag,
      origin: switchFlag(
        '--origin',
        'Also show what each value overrides, what made it stricter, and when a change takes effect.',
      ),
    },
    load: async () => (await import('./config.ts')).configDoor,
  }),
  doctor: defineDoor({
    summary: 'Check this machine and show how to fix what is missing.',
    usage: '',
    examples: [
      ['nacre doctor', 'Check everything and make one call over MCP.'],
      ["nacre doctor --json | jq '.findings'", 'Print the findings for a script.'],
    ],
    flags: { json: jsonFlag },
    onInvalidSettings: 'report',
    load: async () => (await import('./doctor.ts')).doctorDoor,
  }),
  unit: defineDoor({
    summary: 'Print a systemd unit that runs nacre serve at login.',
    details:
      'The unit names this node and this nacre by their paths, so it works with nvm and ~/.local too. Flags of nacre serve become part of it.',
    usage: '',
    examples: [
      ['nacre unit > ~/.config/systemd/user/nacre.service', 'Write the unit; systemctl --user enables it.'],
      ['nacre unit --preset dev-node --port 8080', 'Serve with a preset, on another port.'],
    ],
    flags: {},
    load: async () => (await import('./unit.ts')).unitDoor,
  }),
  completions: defineDoor({
    summary: 'Print a completion script for your shell.',
    usage: 'bash | zsh | fish',
    examples: [
      ['source <(nacre completions bash)', 'Complete commands and flags in this bash.'],
      ['nacre completions fish > ~/.config/fish/completions/nacre.fish', 'Complete them in every fish.'],
    ],
    flags: {},
    load: async () => (await import('./completions.ts')).completionsDoor,
  }),
  man: defineDoor({
    summary: 'Print the man page.',
    usage: '',
    examples: [
      ['nacre man | man -l -', 'Read it without installing it.'],
      ['nacre man > ~/.local/share/man/man1/nacre.1', 'Install it for man nacre.'],
    ],
    flags: {},
    load: async () => (await import('./man.ts')).manDoor,
  }),
};
