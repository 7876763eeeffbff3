import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg } from '../words/arg.ts';
import { joinWords, shellOptions, startsOperands, unclearStart } from './effects.ts';
import { refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs that run commands when files change (`nodemon`), and those that run several in parallel (`concurrently`). */
export const watcherPrograms: readonly ProgramEntry[] = [
  {
    names: ['watchexec', 'onchange'],
    options: {
      short: 'w:W:cno:rs:d:p1qe:i:f:N:E:g:G:R:kva',
      long: 'watch= watch-non-recursive= clear[=] on-busy-update= restart signal= stop-signal= stop-timeout= debounce= delay-run= poll[=] shell= no-shell emit-events-to= only-emit-events env= no-process-group notify project-origin= workdir= exts= filter= filter-file= ignore= ignore-file= fs-events= postpone no-vcs-ignore no-project-ignore no-global-ignore no-default-ignore print-events verbose[=] log-file= delay= regex= inverse-regex= glob= inverse-glob= substitute= start-service decoration= help version initial kill add change outpipe= no-exclude jobs=',
      stop: true,
    },
    effects: (call) => [
      ...call.options
        .values('shell')
        .filter(({ text }) => text !== 'none')
        .map((at) => refused(call, '--shell chooses what runs', at)),
      ...shellOptions('outpipe')(call),
      ...(call.name === 'watchexec' ? joined(call) : afterDashes(call)),
    ],
    runs: [
      ['watchexec -e rs touch x', 'touch'],
      ["watchexec 'ls; touch x'", 'ls', 'touch'],
      ["onchange 'src/**' -- touch x", 'touch'],
      'watchexec --shell=./x ls',
      ['watchexec -n touch x', 'touch'],
    ],
    harmless: [
      'watchexec --version',
      "onchange 'src/**'",
      ['watchexec -w src -r ls', 'ls'],
      ["onchange 'src/**' -- ls", 'ls'],
    ],
  },
  {
    names: ['nodemon'],
    options: {
      short: 'x:e:w:i:d:s:CILqVvc:r:',
      long: 'exec= ext= watch= ignore= delay= signal= config= on-change-only no-stdin legacy-watch quiet verbose cwd= spawn dump no-colors no-update-notifier polling-interval= inspect[=] help version require=',
      stop: true,
    },
    effects: (call) => [...shellOptions('x', 'exec')(call).map((effect) => withRest(effect, call))],
    runs: [
      ["nodemon -x 'touch x'", 'touch'],
      ["nodemon --exec 'touch x' app.js", 'touch'],
      ['nodemon --exec touch app.js', 'touch'],
    ],
    harmless: ['nodemon app.js', 'nodemon -w src server.js', ["nodemon --exec 'ls -l'", 'ls']],
  },
  {
    names: ['chokidar'],
    options: {
      short: 'c:d:t:fi:psv',
      long: 'command= debounce= throttle= follow-symlinks ignore= initial polling poll-interval= silent verbose',
    },
    effects: shellOptions('c', 'command'),
    runs: [
      ["chokidar 'src/**' -c 'touch x'", 'touch'],
      ["chokidar src --command 'touch x'", 'touch'],
    ],
    harmless: ["chokidar 'src/**'", ["chokidar src -c 'ls'", 'ls']],
  },
  {
    names: ['concurrently', 'conc', 'start-server-and-test', 'server-test'],
    options: {
      short: 'm:n:rks:p:t:l:i:c:P',
      long: 'max-processes= names= name-separator= success= raw no-color hide= group timings passthrough-arguments kill-others kill-others-on-fail kill-signal= prefix= prefix-colors= prefix-length= pad-prefix timestamp-format= restart-tries= restart-after= handle-input default-input-target= teardown= shell= cwd= help version expect=',
    },
    effects: (call) => [
      ...call.options.operands.filter(isCommand).map((text): Effect => ({ does: 'shell', text })),
      ...shellOptions('teardown')(call),
    ],
    runs: [
      ["concurrently 'touch x' ls", 'touch', 'ls'],
      ["concurrently -k -n a,b 'npm start' 'touch x'", 'npm', 'touch'],
      ["concurrently --teardown 'touch x' npm:a", 'touch'],
    ],
    harmless: [
      "concurrently 'npm:dev-*' npm:lint",
      ["concurrently 'npm run a' 'npm run b'", 'npm'],
      'start-server-and-test start http://localhost:3000 test',
    ],
  },
  {
    names: ['inotifywait', 'inotifywatch', 'fswatch'],
    options: {
      short: 'mdrqst:e:o:x0l:i:E',
      long: 'monitor daemon outfile= recursive quiet format= timefmt= timeout= event= exclude= include= fromfile= batch-marker= one-event',
    },
    effects: ({ options, name }) =>
      name === 'fswatch'
        ? []
        : options.values('o', 'outfile').map((path): Effect => ({ does: 'write', path })),
    runs: ['inotifywait -o ~/.bashrc .', 'inotifywait -d --outfile /etc/x .'],
    harmless: ["inotifywait -m -r -e modify --format '%w' src", 'fswatch -o src', 'inotifywait -o log .'],
  },
  {
    names: ['cross-env-shell'],
    effects: ({ args, self }) => [
      {
        does: 'shell',
        text: joinWords(
          args.filter((arg) => !/^[A-Za-z_]\w*=/.test(arg.text ?? '')),
          self,
        ),
      },
    ],
    runs: [["cross-env-shell A=1 'touch x'", 'touch']],
    harmless: [["cross-env-shell A=1 'ls $A'", 'ls']],
  },
];

function joined(call: ProgramCall): Effect[] {
  const { operands } = call.options;
  if (operands.length === 0) return [];
  if (call.options.has('n', 'no-shell')) return startsOperands(call);
  return [...unclearStart(call), { does: 'shell', text: joinWords(operands, call.self) }];
}

/** Patterns come first; the program follows after `--`. */
function afterDashes({ args }: ProgramCall): Effect[] {
  const mark = args.findIndex((arg) => arg.text === '--');
  return mark < 0 ? [] : [{ does: 'start', argv: args.slice(mark + 1), stdin: 'none' }];
}

/** `nodemon` appends the file to the command of `--exec`. */
function withRest(effect: Effect, call: ProgramCall): Effect {
  if (effect.does !== 'shell' || effect.text.text === undefined) return effect;
  return {
    does: 'shell',
    text: joinWords([knownArg(effect.text.text, effect.text), ...call.options.operands], call.self),
  };
}

/** Script names and URLs to wait for are not commands. */
function isCommand({ text }: Arg): boolean {
  return !/^(?:(?:npm|pnpm|yarn|bun|node):\S+|https?(?:-get)?:\S+|tcp:\S+|\d+|start|test|dev|serve|[a-z]+:[a-z:-]+)$/.test(
    text ?? '',
  );
}
