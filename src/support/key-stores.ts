/** The folders of a home directory that hold keys. */
export const keyFolders: readonly string[] = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.password-store',
];

/** The files of a home directory that hold keys and passwords. */
export const keyFiles: readonly string[] = [
  '.netrc',
  '.git-credentials',
  '.config/git/credentials',
  '.pgpass',
];
