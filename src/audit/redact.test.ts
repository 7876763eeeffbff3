import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedact, redactArguments } from './redact.ts';

const redact = createRedact([]);
const long = 'Ab3dEf6hIj9lMn2pQr5t';

describe('S6: a text to be recorded', () => {
  test.each([
    `ghp_${long}`,
    `github_pat_${long}`,
    `glpat-${long}`,
    `xoxb-${long}`,
    `sk-proj-${long}`,
    `sk_live_${long}`,
    `npm_${long}`,
    `pypi-${long}`,
    `hf_${long}`,
    'AKIAABCDEFGHIJKLMNOP',
    `AIza${long}${long}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${long}`,
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIE\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE',
  ])('hides %j wherever it stands', (secret) => {
    expect(redact(`echo ${secret}`)).toBe('echo [redacted]');
    expect(redact(`x='${secret}`)).toBe("x='[redacted]");
  });

  test.each([
    ['PASSWORD=hunter2 ls', 'PASSWORD=[redacted] ls'],
    ['PGPASSWORD="my \\" pass" psql', 'PGPASSWORD=[redacted] psql'],
    ["export DB_PASS='a b' X=1", 'export DB_PASS=[redacted] X=1'],
    ['API_KEY="never closed; ls', 'API_KEY=[redacted] closed; ls'],
    [`TOKEN='a'\\''b' ls; rm x`, 'TOKEN=[redacted] ls; rm x'],
    [`echo "token: a"; ls 'b'`, `echo "token: [redacted]"; ls 'b'`],
    [`curl -d '{"token":"a"}' h; ls 'b'`, `curl -d '{"token":[redacted]}' h; ls 'b'`],
    ['MYSQL_PWD=x1 mysql', 'MYSQL_PWD=[redacted] mysql'],
    ['{"token": "abc", "n": 1}', '{"token": [redacted], "n": 1}'],
    ['curl -d "{\\"secret\\": \\"abc\\"}"', 'curl -d "{\\"secret\\": [redacted]"'],
    ['mysql --password=abc -e x', 'mysql --password=[redacted] -e x'],
    ['tool --token abc run', 'tool --token [redacted] run'],
    ['tool --github-token "a b" run', 'tool --github-token [redacted] run'],
    ['tool -passphrase abc', 'tool -passphrase [redacted]'],
    ['sshpass -p abc ssh host', 'sshpass -p [redacted] ssh host'],
    ['curl -u me:pass https://h', 'curl -u me:[redacted] https://h'],
    ['curl --user=me:pass https://h', 'curl --user=me:[redacted] https://h'],
    ['curl -H "Authorization: Bearer abc.def" h', 'curl -H "Authorization: Bearer [redacted]" h'],
    ["curl -H 'authorization: abc' h", "curl -H 'authorization: [redacted]' h"],
    ['curl -H "X-Api-Key: abc"', 'curl -H "X-Api-Key: [redacted]"'],
    ['psql postgres://me:pass@host/db', 'psql postgres://me:[redacted]@host/db'],
    ['redis-cli -u redis://:pass@host', 'redis-cli -u redis://:[redacted]@host'],
  ])('%j is recorded as %j', (text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  test.each([
    'git log --author=me -p',
    'docker run -u 1000:1000 image',
    'ls -la https://example.org:8080/path',
    'echo "keyboard: de" tokenize passes',
    'ssh -i ~/.ssh/id_ed25519 git@github.com',
    'eyJ short.eyJ',
  ])('%j stays as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('hides the values of withheld variables wherever they stand, the longest first', () => {
    const secret = fc.string({ minLength: 6, maxLength: 30 }).filter((text) => !'[redacted]'.includes(text));
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.string(),
        fc.string(),
        (secrets, a, b) => {
          const clean = createRedact(secrets)(`${a}${secrets[0]}${b}`);
          for (const one of secrets) expect(clean.includes(one)).toBe(false);
        },
      ),
    );
    expect(createRedact(['secret', 'secret-longer'])('secret-longer secret')).toBe('[redacted] [redacted]');
  });

  test('does not hide values so short that they would be everywhere', () => {
    expect(createRedact(['a', '', '12345'])('a 12345')).toBe('a 12345');
  });

  test.each([
    'eyJ-',
    'eyJaaaaaaaa.',
    'TOKEN="',
    "TOKEN='",
    'TOKEN="\\"',
    'TOKEN=',
    'A_KEY="a',
    'AAAA_',
    '-----BEGIN PRIVATE KEY-----a',
    'a://b:',
    'a.',
    '--a-',
    '--a-a-a-token',
    '--password "',
    ' -u a:',
    'sshpass -p ',
    'Authorization: Bearer ',
    'x://',
    '\\',
  ])('takes no longer than its length warrants: 1 MiB of %j', (piece) => {
    const text = piece.repeat(Math.ceil(1_048_576 / piece.length));
    const started = performance.now();
    redact(text);
    expect(performance.now() - started).toBeLessThan(1_500);
  });

  test('takes no longer than its length warrants, whatever it is made of', () => {
    const pieces = fc.array(
      fc.constantFrom(
        'TOKEN',
        '=',
        '"',
        "'",
        '\\',
        ' ',
        'eyJ',
        '.',
        '-',
        '_',
        '://',
        ':',
        '@',
        'a',
        '-u ',
        '--password',
        'sk-',
      ),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const piece = parts.join('');
        const started = performance.now();
        redact(piece.repeat(Math.ceil(65_536 / piece.length)));
        expect(performance.now() - started).toBeLessThan(400);
      }),
      { numRuns: 60 },
    );
  });
});

test('S6: arguments are redacted one by one, also those that follow their flag', () => {
  const argv = ['mysql', '--password', 'my pass', 'PASSWORD=a b', '-e', 'select 1', '--token'];
  expect(redactArguments(argv, redact)).toEqual([
    'mysql',
    '--password',
    '[redacted]',
    'PASSWORD=[redacted] b',
    '-e',
    'select 1',
    '--token',
  ]);
});
