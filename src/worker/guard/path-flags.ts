const pathOnly = 0o10000000;
const closeOnExec = 0o2000000;
// O_NOFOLLOW, which ARM numbers differently.
const noFollow = process.arch === 'arm64' ? 0o100000 : 0o400000;

/** O_PATH, O_CLOEXEC and O_NOFOLLOW, with which the guard opens a path that it grants rights on. */
export const pathFlags = pathOnly | closeOnExec | noFollow;
