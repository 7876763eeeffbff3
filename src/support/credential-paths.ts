/** Folders below the home directory that contain keys and tokens. */
export const credentialFolders: readonly string[] = [
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

/** Files below the home directory that contain keys and passwords. */
export const credentialFiles: readonly string[] = [
  '.netrc',
  '.git-credentials',
  '.config/git/credentials',
  '.pgpass',
];
