/** Programs that a program executes to do its work: folders of helpers, and other programs by name. */
export interface ProgramHelpers {
  readonly folders: readonly string[];
  readonly names: readonly string[];
}

const compiler: ProgramHelpers = {
  folders: ['/usr/lib/gcc', '/usr/libexec/gcc', '/usr/lib/gcc-cross'],
  names: ['as', 'ld'],
};

const known: Readonly<Record<string, ProgramHelpers>> = {
  git: { folders: ['/usr/lib/git-core', '/usr/libexec/git-core'], names: [] },
  gcc: compiler,
  'g++': compiler,
  cc: compiler,
  'c++': compiler,
};

/** The helpers of a program, such as `git-core` for git; they may be executed if the program is listed. */
export function helpersOf(name: string): ProgramHelpers {
  return known[name] ?? { folders: [], names: [] };
}
