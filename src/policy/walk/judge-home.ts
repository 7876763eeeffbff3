import type { Arg } from '../words/arg.ts';
import { textIfKnown, type Variable } from './variable.ts';
import type { Walk } from './walk.ts';

/** Programs that load code, or settings that run code, from the home directory. */
const homeReaders = new Set(
  `bash sh dash zsh ksh fish git hg svn npm npx pnpm yarn yarnpkg corepack pip pip3 python python3 ruby gem bundle cargo rustup go
  node deno bun ssh scp sftp rsync mosh vi vim nvim view ex emacs nano less more man gdb lldb psql mysql sqlite3 docker podman
  docker-compose kubectl helm terraform aws gcloud az tmux screen curl wget lftp mutt parallel mvn gradle ansible ansible-playbook`.split(
    /\s+/,
  ),
);

// User homes, and paths that cannot contain files. In any other directory a program may find planted settings.
const harmless = /^(?:|\/|\/root|\/home\/[^/.][^/]*|\/nonexistent|\/var\/empty|\/dev\/null)\/?$/;

/** Judges a HOME that the command sets for a program that reads settings from it (P7). */
export function judgeHome(walk: Walk, program: string, at: Arg, variable: Variable): void {
  if (!homeReaders.has(program)) return;
  const home = textIfKnown(variable);
  if (home !== undefined && (home === walk.home || harmless.test(home))) return;
  const reason = `setting HOME is not allowed for ${program}, because it loads code and settings from there`;
  const { pos, end } = at;
  const hint = 'Run the command without HOME.';
  walk.problems.push({ scope: 'finite', rule: 'environment', reason, hint, program: 'HOME', pos, end });
}
