// Runs a program on the server and shows its output; `applet.json` lists the programs that this page may run.
const at = (id) => document.getElementById(id);

// Resolves to { stdout, stderr, code }. No shell interprets `args`; without `cwd`, the server's own directory is used.
async function run(command, args, cwd) {
  const response = await fetch('/api/shell', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ command, args, ...(cwd !== '' && { cwd }) }),
  });
  const body = await response.json();
  if (response.status === 401) throw new Error('This page is signed out: open it again from the console.');
  if (!response.ok) throw new Error(body.error);
  return body;
}

async function listFiles() {
  at('run').disabled = true;
  at('status').textContent = 'Running…';
  try {
    const { stdout, stderr, code, duration_ms } = await run('ls', ['-la'], at('cwd').value.trim());
    at('output').textContent = stdout + stderr;
    at('status').textContent = `exit ${code}, ${duration_ms} ms`;
  } catch (error) {
    at('output').textContent = '';
    at('status').textContent = error.message;
  } finally {
    at('run').disabled = false;
  }
}

at('form').addEventListener('submit', (event) => {
  event.preventDefault();
  listFiles();
});
await listFiles();
