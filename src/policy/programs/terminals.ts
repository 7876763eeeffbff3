import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg } from '../words/arg.ts';
import { joinWords } from './effects.ts';
import { refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Terminal multiplexers such as `tmux`: the programs that they start and the keys that they send. */
export const terminalPrograms: readonly ProgramEntry[] = [
  {
    names: ['tmux'],
    options: { short: '2CDluvVNL:S:f:c:T:', stop: true },
    effects: tmuxEffects,
    runs: [
      ["tmux new-session -d -s x 'touch x'", 'touch'],
      ['tmux new -d touch x', 'touch'],
      ["tmux -L s new-window -n w 'touch x'", 'touch'],
      ["tmux split-window -h 'touch x'", 'touch'],
      ["tmux send-keys -t x 'touch x' Enter", 'touch'],
      ['tmux send-keys -t x touch Space x C-m', 'touch'],
      ["tmux run-shell 'touch x'", 'touch'],
      ["tmux run -b 'touch x'", 'touch'],
      ["tmux if-shell 'touch x' 'display a'", 'touch'],
      ["tmux pipe-pane -o 'touch x'", 'touch'],
      ["tmux -c 'touch x'", 'touch'],
      "tmux set -g default-command 'touch x'",
      "tmux bind x run-shell 'touch x'",
      ["tmux start-server \\; run-shell 'touch x'", 'touch'],
      'tmux -f ./x.conf new -d',
      'tmux',
      "tmux ru 'touch x'",
      'tmux neww\\; some-new-command',
      'tmux send-keys "$x" Enter',
      "tmux display-message '#(touch x)'",
    ],
    harmless: [
      'tmux ls',
      'tmux new-session -d -s work',
      'tmux kill-session -t x',
      'tmux capture-pane -p -t x',
      'tmux has-session -t x',
      ["tmux new -d -s x 'ls -l'", 'ls'],
      ["tmux send-keys -t x 'ls' Enter", 'ls'],
      'tmux attach -t x',
      'tmux send-keys -t x C-c',
      'tmux -V',
    ],
  },
  {
    names: ['screen'],
    options: { short: '4667aADdeEfh:ilLmnOp:q:QrRs:S:t:T:UvxwXc:', long: 'help version', stop: true },
    effects: screenEffects,
    runs: [
      ['screen -dmS x touch y', 'touch'],
      ['screen -d -m touch x', 'touch'],
      ["screen -S x -X stuff 'touch x\\n'", 'touch'],
      ['screen -S x -X exec touch x', 'touch'],
      ['screen -X screen touch x', 'touch'],
      'screen -c ./rc -dm ls',
      'screen',
      'screen -s ./x',
      "screen -X eval 'exec touch'",
    ],
    harmless: ['screen -ls', 'screen -S x -X quit', 'screen -r x', ['screen -dmS x ls', 'ls'], 'screen -v'],
  },
  {
    names: ['zellij'],
    effects: (call) => {
      const words = call.args.map((arg) => arg.text ?? '');
      const mark = words.indexOf('--');
      if (/^(?:run|r)$/.test(words[0] ?? ''))
        return mark < 0 ? [] : [{ does: 'start', argv: call.args.slice(mark + 1) }];
      const quiet = /^(?:ls|list-sessions|kill-session|ka|k|attach|a|delete-session|--version|setup)$/.test(
        words[0] ?? '',
      );
      return quiet ? [] : [refused(call, 'starts a shell or types into one')];
    },
    runs: [['zellij run -- touch x', 'touch'], "zellij action write-chars 'touch x'", 'zellij'],
    harmless: ['zellij ls', ['zellij run -- ls', 'ls']],
  },
];

/** `tmux` separates commands at words that end with a semicolon. */
function tmuxEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('V')) return [];
  const files = options.values('f').filter(({ text }) => text !== '/dev/null');
  const effects: Effect[] = [
    ...options.values('c').map((text): Effect => ({ does: 'shell', text })),
    ...files.map((at) => refused(call, '-f reads commands from a file', at)),
  ];
  const commands: Arg[][] = [[]];
  for (const word of options.operands) {
    if (word.text === ';') commands.push([]);
    else commands.at(-1)?.push(word);
  }
  const found = commands.flatMap((words) => tmuxCommand(call, words));
  const formats = call.args.filter((arg) => arg.text?.includes('#('));
  const bare = options.operands.length === 0 && !options.has('c');
  return [
    ...effects,
    ...found,
    ...formats.map((at) => refused(call, 'would run a command for its text', at)),
    ...(bare ? [refused(call, 'starts a shell')] : []),
  ];
}

const starting =
  /^(?:new|new-s\w*|new-session|neww|new-window|splitw|split-window|respawnp|respawn-pane|respawnw|respawn-window|popup|display-popup|displayp)$/;

function tmuxCommand(call: ProgramCall, words: readonly Arg[]): Effect[] {
  const [first, ...args] = words;
  const name = first?.text;
  if (first === undefined) return [];
  if (name === undefined)
    return [{ does: 'unknown', at: first, reason: 'what tmux would do cannot be known' }];
  const options = parseOptions(args, {
    short: 'AabBdDEhIkKlNoOPrRvXZfHMFgc:e:F:n:p:s:S:t:w:x:y:T:',
    stop: true,
  });
  const { operands } = options;
  if (starting.test(name)) return launched(call, operands);
  if (/^(?:send|send-keys|send-k\w*)$/.test(name)) return typed(call, operands);
  if (/^(?:run|run-shell|run-s\w*|pipep|pipe-pane)$/.test(name)) {
    const [text] = operands;
    const within = args.some((arg) => arg.text === '-C');
    return within
      ? [refused(call, 'run-shell -C runs tmux commands', first)]
      : text === undefined
        ? []
        : [{ does: 'shell', text }];
  }
  if (/^(?:if|if-shell)$/.test(name)) {
    const [text, ...branches] = operands;
    const inner = branches.flatMap((branch) =>
      tmuxCommand(
        call,
        (branch.text ?? '').split(/\s+/).map((word) => knownArg(word, branch)),
      ),
    );
    return text === undefined ? [] : [{ does: 'shell', text }, ...inner];
  }
  const settings =
    /^(?:set|set-option|setw|set-window-option)$/.test(name) &&
    args.some((arg) =>
      /default-(?:command|shell)|status-(?:left|right)|-command$|lock-command|copy-command|editor|update-environment/.test(
        arg.text ?? 'default-command',
      ),
    );
  if (settings) return [refused(call, `${name} schedules commands for later`, first)];
  return harmlessCommands.has(name) ? [] : [refused(call, `${name} is not known to be harmless`, first)];
}

/** tmux also accepts abbreviations; those that are not here are refused. */
const harmlessCommands = new Set(
  `attach attach-session a at break-pane breakp capture-pane capturep choose-buffer choose-client choose-session choose-tree
  choose-window clear-history clearhist clock-mode copy-mode delete-buffer deleteb detach detach-client display display-message
  display-panes displayp find-window findw has has-session join-pane joinp kill-pane killp kill-server kill-session kill-window killw
  last last-pane lastp last-window link-window linkw list-buffers lsb list-clients lsc list-commands lscm list-keys lsk list-panes
  lsp list-sessions ls list-windows lsw load-buffer loadb lock lock-client lock-session move-pane movep move-window movew next
  next-layout nextl next-window paste-buffer pasteb prev previous-layout prevl previous-window refresh refresh-client rename
  rename-session rename-window renamew resize-pane resizep resize-window resizew rotate-window rotatew save-buffer saveb
  select-layout selectl select-pane selectp select-window selectw server-info info set-buffer setb set set-option setw
  set-window-option show show-buffer showb show-environment showenv show-hooks show-messages showmsgs show-options
  show-window-options showw start start-server suspend-client suspendc swap-pane swapp swap-window swapw switch-client switchc
  unbind unbind-key unlink-window unlinkw wait wait-for`.split(/\s+/),
);

/** A single word is shell text; several words are a program and its arguments. */
function launched(call: ProgramCall, words: readonly Arg[]): Effect[] {
  const [text] = words;
  if (text === undefined) return [];
  return words.length === 1
    ? [{ does: 'shell', text }]
    : [{ does: 'shell', text: joinWords(words, call.self) }];
}

const keys =
  /^(?:Enter|C-.|M-.|S-.|Escape|Tab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|PPage|NPage|F\d+|KPEnter|q)$/;

/** `send-keys` types text into a shell. */
function typed(call: ProgramCall, words: readonly Arg[]): Effect[] {
  if (words.some(({ text }) => text === undefined))
    return [{ does: 'unknown', at: call.self, reason: 'what tmux would type cannot be known' }];
  const text = words
    .map((word) => word.text ?? '')
    .map((word) =>
      /^(?:Enter|C-m|C-j|KPEnter)$/.test(word) ? '\n' : word === 'Space' ? ' ' : keys.test(word) ? '' : word,
    )
    .join('');
  return text.trim() === '' ? [] : [{ does: 'shell', text: knownArg(text, call.self) }];
}

function screenEffects(call: ProgramCall): Effect[] {
  const { options, args } = call;
  if (options.has('v', 'version', 'help') || args.some((arg) => /^-(?:ls|list|wipe)$/.test(arg.text ?? '')))
    return [];
  const refusals = options.values('c', 's').map((at) => refused(call, 'chooses what runs', at));
  const { operands } = options;
  if (options.has('X')) return [...refusals, ...screenCommand(call, operands)];
  if (options.has('r', 'x', 'R') && operands.length <= 1) return refusals;
  return operands.length === 0
    ? [...refusals, refused(call, 'starts a shell')]
    : [...refusals, { does: 'start', argv: operands }];
}

function screenCommand(call: ProgramCall, words: readonly Arg[]): Effect[] {
  const [name, ...rest] = words;
  if (name?.text === 'stuff') {
    const text = joinWords(rest, call.self);
    return [
      {
        does: 'shell',
        text:
          text.text === undefined
            ? text
            : knownArg(text.text.replace(/\\n|\\r|\^M|\\015|\\012/g, '\n'), call.self),
      },
    ];
  }
  if (/^(?:exec|screen)$/.test(name?.text ?? '')) {
    const argv = rest.slice(
      Math.max(
        0,
        rest.findIndex((word) => !/^[.!:|-]/.test(word.text ?? '')),
      ),
    );
    return argv.length === 0 ? [] : [{ does: 'start', argv }];
  }
  return /^(?:quit|kill|hardcopy|title|detach|select|next|prev|log|logfile|height|width|windows|wipe)$/.test(
    name?.text ?? '',
  )
    ? []
    : [refused(call, '-X sends a command', name)];
}
