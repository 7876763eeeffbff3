/** The path of the built worker; `scripts/build.mjs` replaces it. */
declare const WORKER_PATH: string;

declare module '*.css';
