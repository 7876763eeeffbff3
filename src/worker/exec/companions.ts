/** What a program starts by itself to do its work: folders of helpers, and other programs by name. */
export interface Companions {
  readonly folders: readonly string[];
  readonly names: readonly string[];
}

const compiler: Companions = {
  folders: ['/usr/lib/gcc', '/usr/libexec/gcc', '/usr/lib/gcc-cross'],
  names: ['as', 'ld'],
};

const known: Readonly<Record<string, Companions>> = {
  git: { folders: ['/usr/lib/git-core', '/usr/libexec/git-core'], names: [] },
  gcc: compiler,
  'g++': compiler,
  cc: compiler,
  'c++': compiler,
};

/** The helpers of a listed program; listing the program lists them. */
export function companionsOf(name: string): Companions {
  return known[name] ?? { folders: [], names: [] };
}
