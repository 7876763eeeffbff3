import { Logo } from '../parts/icon.tsx';

/** The page for a browser that is not signed in: it explains how to get a link. */
export function SignIn() {
  return (
    <main class="sign-in" id="main">
      <Logo />
      <h1>Open this page with its link</h1>
      <p>
        <code>nacre serve</code> prints a link when it starts. The link works once. To get another one, run{' '}
        <code>nacre open</code>, or send your token as <code>Authorization: Bearer TOKEN</code> to{' '}
        <code>POST /api/link</code>.
      </p>
      <p>
        <a href="/docs">API</a>
      </p>
    </main>
  );
}
