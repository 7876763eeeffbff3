import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import { joinWords } from './effects.ts';
import { configEffects } from './git-config.ts';
import { refuseDashNames } from './git-names.ts';
import { subcommandEffects } from './git-subcommands.ts';
import { writesBelow } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { splitWords } from './split-words.ts';
import { hasWrittenRepository } from './written-files.ts';

const globalOptions = {
  short: 'C:c:pPvh',
  long: 'version help config-env= exec-path[=] html-path man-path info-path paginate no-pager no-replace-objects no-lazy-fetch no-optional-locks no-advice bare git-dir= work-tree= namespace= super-prefix= literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs list-cmds= attr-source=',
  stop: true,
};

// Programs that git's own scripts run: submodule, subtree, mergetool, filter-branch, and the merge strategies octopus
// and resolve.
const scriptPrograms = [
  ...[
    'basename',
    'cat',
    'cp',
    'cut',
    'dirname',
    'envsubst',
    'expr',
    'false',
    'gettext',
    'gettext.sh',
    'grep',
    'head',
  ],
  ...['mkdir', 'mktemp', 'mv', 'rm', 'rmdir', 'sed', 'sort', 'tail', 'tr', 'true', 'uname', 'uniq', 'wc'],
];
const connecting = [
  ...['ssh', 'ssh-askpass', 'ssh-keygen', 'git-lfs'],
  ...['/usr/lib/openssh', '/usr/libexec/openssh'],
];
const signing = ['gpg', 'gpg-agent', 'gpgsm'];
const ownFolders = ['/usr/lib/git-core', '/usr/libexec/git-core'];

/** `git`: settings (`-c`), options and aliases that run programs. */
export const gitPrograms: readonly ProgramEntry[] = [
  {
    names: ['git'],
    closed: [...scriptPrograms, ...connecting, ...signing, 'less', 'pager', ...ownFolders],
    effects: gitEffects,
    runs: [
      ["git -c core.pager='touch x' log", 'touch'],
      ["git -c alias.x='!touch x' x", 'touch'],
      ["git -c 'alias.x=!touch x' x", 'touch'],
      ['git -c core.sshCommand=touch fetch', 'touch'],
      ['git -c CORE.EDITOR=touch commit', 'touch'],
      ['git -c diff.external=touch diff', 'touch'],
      ['git -c core.fsmonitor=touch status', 'touch'],
      "git -c credential.helper='!touch x' fetch",
      'git -c core.hooksPath=./hooks commit',
      'git -c include.path=./evil status',
      'git -c protocol.ext.allow=always fetch',
      'git -c filter.x.clean=touch add .',
      'git -c gpg.program=./x log --show-signature',
      'git -c "$x" status',
      'git --exec-path=. status',
      'git --config-env=core.pager=EVIL log',
      "git config core.pager 'touch x'",
      "git config --global alias.x '!touch x'",
      "git config set alias.x '!touch x'",
      'git config --add core.hooksPath ./hooks',
      'git config -e',
      ["git submodule foreach 'touch x'", 'touch'],
      ['git submodule foreach --recursive touch x', 'touch'],
      ['git bisect run touch x', 'touch'],
      ["git rebase -x 'touch x' main", 'touch'],
      ["git rebase --exec='touch x' main", 'touch'],
      ["git rebase --exe 'touch x' main", 'touch'],
      ['git grep -Otouch foo', 'touch'],
      ['git grep --open-files-in-pager=touch foo', 'touch'],
      'git grep -O foo',
      ["git difftool -x 'touch x'", 'touch'],
      'git difftool',
      'git mergetool',
      'git diff --ext-diff',
      'git log -p --ext-d',
      'git log --output=out',
      ["git fetch --upload-pack='touch x' origin", 'touch'],
      ["git clone -u 'touch x' host:repo", 'touch'],
      ["git ls-remote --upload-pack='touch x' .", 'touch'],
      ["git push --receive-pack='touch x'", 'touch'],
      ["git push --exec='touch x'", 'touch'],
      "git clone 'ext::sh -c touch% x'",
      'git clone --template=./t url',
      'git clone -c core.sshCommand=touch url',
      'git clone --config=core.hooksPath=x url',
      'git init --template=./t',
      ["git filter-branch --tree-filter 'touch x' HEAD", 'touch'],
      'git archive --remote=x --exec=touch HEAD',
      'git hook run pre-commit',
      'git -C sub -c core.pager=touch -p log',
      'git -p -ccore.pager=touch log',
      'git instaweb',
      'git send-email --to-cmd=touch x.patch',
      'git -c alias.x="-c core.pager=touch log" x',
      'git -c alias.x="$y" x',
      'git -c alias.x=\'log -1 "--output=a b"\' x',
      'git -c core.pager="$x" log',
      'git -c core.pager log',
      'git -c credential.helper=./evil fetch',
      "git -c submodule.x.update='!touch y' submodule update",
      'git config "$key" value',
      'git $x',
      'git submodule --quiet foreach touch x',
      'git send-email --smtp-server=./x a.patch',
      'git "$sub" x',
      'git config edit-mode.x 1',
      'git config rename-section foo core',
      'git config --rename-section foo core',
      ["git -c alias.r=rebase r -x 'touch x' HEAD~1", 'touch'],
      ["git -c 'alias.r=!touch' r x", 'touch'],
      'git -c help.autocorrect=immediate conifg x y',
      'git conifg core.pager x',
      'git merge-index touch -a',
      'git for-each-repo --config=x.r status',
      'git remote-ext origin "touch x"',
      'git submodule--helper foreach touch',
      'git remote add x ext::touch',
      'git -c remote.x.url=ext::touch fetch x',
      'git archive -o .git/hooks/post-checkout HEAD',
      'git format-patch -o .git/hooks -1',
      'git bundle create .git/hooks/x HEAD',
      'git checkout-index --prefix=.git/hooks/ -a',
      'git -C .git/hooks archive -o pre-commit HEAD',
      'git --work-tree=.git/hooks checkout .',
      'git -C .git --work-tree=hooks checkout .',
      'git -C .git/hooks apply ../../x.patch',
      'git --work-tree="$HOME" checkout .',
      'git worktree add .git/hooks',
      'git clone url .git/hooks',
      'git --git-dir=./evil status',
      'git merge -s ./x other',
      'git log --some-new-option',
      'git some-new-command',
      'git grep -m -Otouch foo',
      'git apply --unsafe-paths x.patch',
      'git maintenance start',
      'git interpret-trailers --in-place ~/.bashrc',
    ],
    harmless: [
      "git log --format='%h %s' -n 5",
      'git -C sub status --short',
      'git -c color.ui=always -c core.quotepath=off diff --stat',
      "git commit -m 'x; rm -rf / && touch y'",
      'git --no-pager show HEAD:file',
      'git config user.name "A B"',
      'git config --get core.pager',
      'git config --list',
      'git config core.autocrlf input',
      'git rebase main',
      'git rebase -i HEAD~2',
      'git grep -n foo -- src',
      'git clone --depth 1 https://example.com/x.git',
      'git fetch origin main',
      'git push -u origin main',
      'git submodule update --init --recursive',
      'git submodule foreach git pull',
      'git bisect good',
      'git diff $(git merge-base main HEAD)',
      'git archive -o x.zip HEAD',
      'git log --oneline --output-indicator-new=+',
      'git -c alias.st=status st',
      'git show "$ref"',
      'git add -A && git stash',
      'git log --exclude=x --all',
      "git -c user.email=a@b.c commit -am 'x'",
      'git worktree add ../x',
      'git config get user.name',
      'git lfs pull',
      'git -c core.fsmonitor=false status',
      'git -c credential.helper=cache fetch',
      'git -c submodule.x.update=rebase submodule update',
      'git config --global',
      'git difftool --tool-help',
      'git bisect start',
      'git submodule foreach',
      'git hook list',
      'git --git-dir=app/.git --work-tree=app status',
      'git remote set-url origin git@github.com:a/b.git',
      'git config url.git@github.com:.insteadOf https://github.com/',
      'git config remote.origin.fetch +refs/heads/*:refs/remotes/origin/*',
      'git fast-export --all',
      'git log --no-merges --since=1.week --author="A" --stat -p -S foo',
      "git commit -m '- fix: a'",
      'git stash push -m wip -- src',
      'git merge -s ours other',
      'git rebase --onto main feature~3 feature',
      'git config -f .gitmodules submodule.x.url https://example.com/x',
      ["git -c core.editor='sed -i s/a/b/' commit --amend", 'sed'],
      'git -c core.editor=true rebase --continue',
      'git bisect start HEAD v1.0 --',
      'git submodule add https://example.com/x.git lib/x',
      'git worktree list --porcelain',
      'git rev-parse --abbrev-ref --symbolic-full-name @{u}',
    ],
  },
];

function gitEffects(call: ProgramCall): readonly Effect[] {
  const refused = refuseDashNames(call);
  return [...refused, ...judgeCall(call)];
}

function judgeCall(call: ProgramCall): readonly Effect[] {
  if (call.files.size > 0 && hasWrittenRepository(call))
    return [{ does: 'refuse', at: call.self, reason: 'git would load settings that this command writes' }];
  const [first] = call.args;
  if (first?.text !== undefined && !first.text.startsWith('-'))
    return subcommandEffects(first, call.args.slice(1), call);
  const options = parseOptions(call.args, globalOptions);
  const [subcommand, ...rest] = options.operands;
  const own = options.given.length + options.unrecognised.length === 0 ? [] : globalEffects(options, call);
  if (subcommand === undefined || options.has('version', 'v')) return own;
  const aliased = aliasOf(options, subcommand, rest, call);
  return [...own, ...inDirectory(options.values('C'), aliased ?? subcommandEffects(subcommand, rest, call))];
}

/** A subcommand that `-c alias.…` defines in the same call, with its arguments. */
function aliasOf(
  options: ParsedOptions,
  subcommand: Arg,
  rest: readonly Arg[],
  call: ProgramCall,
): readonly Effect[] | undefined {
  const start = `alias.${subcommand.text ?? ''}=`;
  const setting = options
    .values('c')
    .findLast((value) => prefixOf(value).toLowerCase().startsWith(start.toLowerCase()));
  if (setting === undefined || subcommand.text === undefined) return undefined;
  const value = withoutPrefix(setting, start.length);
  if (value.text === undefined)
    return [{ does: 'unknown', at: setting, reason: 'what a git alias would run cannot be known' }];
  const text = value.text.trimStart();
  if (text.startsWith('!'))
    return [{ does: 'shell', text: joinWords([knownArg(text.slice(1), setting), ...rest], setting) }];
  return [{ does: 'start', argv: [call.self, ...splitWords(value), ...rest] }];
}

/** Files that git writes are relative to the directories of `-C`. */
function inDirectory(directories: readonly Arg[], effects: readonly Effect[]): readonly Effect[] {
  if (directories.length === 0) return effects;
  const before = directories.map(({ text }) => (text === undefined ? '.' : text)).join('/');
  return effects.map((effect) =>
    effect.does === 'write' && effect.path.text !== undefined && !effect.path.text.startsWith('/')
      ? { ...effect, path: knownArg(`${before}/${effect.path.text}`, effect.path) }
      : effect,
  );
}

function globalEffects(options: ParsedOptions, call: ProgramCall): Effect[] {
  const execPath = options.given.find((option) => option.name === 'exec-path' && option.value !== undefined);
  const reason = 'git --exec-path chooses which programs git runs';
  return [
    ...(execPath === undefined ? [] : [{ does: 'refuse', at: execPath.at, reason } as const]),
    ...options.values('c').flatMap((setting) => settingEffects(setting, call)),
    ...options.values('config-env').flatMap((setting) => environmentSetting(setting)),
    ...options
      .values('git-dir')
      .filter(({ text }) => !/(?:^|\/)\.git\/?$/.test(text ?? ''))
      .map(
        (at): Effect => ({
          does: 'refuse',
          at,
          reason: 'git --git-dir chooses the settings that git loads, unless it names a folder .git',
        }),
      ),
    ...inDirectory(options.values('C'), options.values('work-tree').flatMap(writesBelow)),
    ...options.unrecognised.map(
      (at): Effect => ({
        does: 'refuse',
        at,
        rule: 'unknown_option',
        reason: `git ${wordText(at)} is not known to be harmless`,
      }),
    ),
  ];
}

function settingEffects(setting: Arg, call: ProgramCall): Effect[] {
  const start = prefixOf(setting);
  const equals = start.indexOf('=');
  if (equals < 0 && setting.text === undefined)
    return [{ does: 'unknown', at: setting, reason: 'which setting git would get cannot be known' }];
  return configEffects(
    equals < 0 ? start : start.slice(0, equals),
    equals < 0 ? undefined : setting,
    equals + 1,
    call,
  );
}

function environmentSetting(setting: Arg): Effect[] {
  const key = prefixOf(setting).split('=')[0] ?? '';
  return [{ does: 'refuse', at: setting, reason: `git would read ${key} from a variable` }];
}
