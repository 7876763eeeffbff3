import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { soakCount } from '../../tests/support/soak.ts';
import { createRedact, redactArguments } from './redact.ts';

const redact = createRedact([]);
const long = 'Ab3dEf6hIj9lMn2pQr5t';

describe('S6: text to be recorded', () => {
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
    `xapp-1-${long}`,
    `dop_v1_${long}`,
    `ya29.${long}`,
    `SG.${long}.${long}`,
    `AGE-SECRET-KEY-1${long.toUpperCase()}`,
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQdGBF\n-----END PGP PRIVATE KEY BLOCK-----',
    'AKIAABCDEFGHIJKLMNOP',
    `AIza${long}${long}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${long}`,
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIE\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE',
  ])('hides %j at any position', (secret) => {
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
    // Words that consist of several quoted parts.
    [`TOKEN=a"bc" ls "x"`, 'TOKEN=[redacted] ls "x"'],
    [`TOKEN="a"'bc' ls`, 'TOKEN=[redacted] ls'],
    ["TOKEN=$'a\\'b c' ls", 'TOKEN=[redacted] ls'],
    ['TOKEN=$(echo abc) ls', 'TOKEN=[redacted] ls'],
    ['TOKEN=`echo abc` ls', 'TOKEN=[redacted] ls'],
    ['TOKEN+=abc ls', 'TOKEN+=[redacted] ls'],
    ['read -r TOKEN <<< "a b"; ls', 'read -r TOKEN <<< [redacted]; ls'],
    // Names with a secret word only at the end.
    ['KEY=abc MYKEY=abc encryption_key=abc', 'KEY=[redacted] MYKEY=[redacted] encryption_key=[redacted]'],
    ['PASS=abc db_pass=abc userPass=abc', 'PASS=[redacted] db_pass=[redacted] userPass=[redacted]'],
    ['x "AccountKey=abc;Name=x"', 'x "AccountKey=[redacted];Name=x"'],
    ["curl 'https://h/?key=abc&page=2'", "curl 'https://h/?key=[redacted]&page=2'"],
    // Flags in other spellings, and with the value on the next line.
    ['tool --api_key abc --secret-key abc', 'tool --api_key [redacted] --secret-key [redacted]'],
    ['tool --pass abc --key abc --bearer abc', 'tool --pass [redacted] --key [redacted] --bearer [redacted]'],
    ['tool --token\tabc', 'tool --token\t[redacted]'],
    ['tool --token \\\n  abc run', 'tool --token \\\n  [redacted] run'],
    ['keytool -storepass abc -keypass abc', 'keytool -storepass [redacted] -keypass [redacted]'],
    // Program-specific syntax.
    ['mysql -u root -pabc db', 'mysql -u root -p[redacted] db'],
    ['docker login -u me -p abc host', 'docker login -u me -p [redacted] host'],
    ['openssl rsa -passin pass:abc -in f', 'openssl rsa -passin [redacted] -in f'],
    ['openssl enc -pass "pass:abc" -in f', 'openssl enc -pass [redacted] -in f'],
    ['7z a -pabc x.7z', '7z a -p[redacted] x.7z'],
    ['zip -P abc x.zip f', 'zip -P [redacted] x.zip f'],
    ['vault login abc', 'vault login [redacted]'],
    ['aws configure set aws_secret_access_key abc', 'aws configure set aws_secret_access_key [redacted]'],
    ['npm config set //host/:_authToken abc', 'npm config set //host/:_authToken [redacted]'],
    // URLs, headers and users.
    ['git clone https://a1b2c3d4@host/x', 'git clone https://[redacted]@host/x'],
    ['git clone https://me:p@ss@host/x', 'git clone https://me:[redacted]@host/x'],
    ['curl -ume:pass h', 'curl -ume:[redacted] h'],
    ['curl -U me:pass --proxy-user me:pass h', 'curl -U me:[redacted] --proxy-user me:[redacted] h'],
    ['curl -H "Cookie: a=1; session=2" h', 'curl -H "Cookie: [redacted]" h'],
    ['curl https://hooks.slack.com/services/T0/B0/abc', 'curl https://hooks.slack.com/services/[redacted]'],
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
    'PWD=/home/me OLDPWD=/ pwd',
    'sort --key 2 --key=3 monkey=1 bypass=yes',
    'git clone https://me@host/x ssh://git@host/x',
    'mkdir -p a/b && unzip -p x.zip',
    'npm run key -- --watch',
  ])('%j is not changed', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('hides the values of withheld variables at any position, the longest first', () => {
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

  test('does not hide values that are too short to be unique', () => {
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
    'TOKEN=$(',
    'TOKEN=`',
    "TOKEN=$'",
    'TOKEN=""',
    'TOKEN=a""',
    'mysql ',
    'zip a -',
    'docker login ',
    'https://a',
    'Cookie:',
    'key',
  ])('is redacted in linear time: much of %j', (piece) => {
    const text = piece.repeat(Math.ceil(soakCount(1_048_576, 131_072) / piece.length));
    const started = performance.now();
    redact(text);
    expect(performance.now() - started).toBeLessThan(soakCount(1_500, 400));
  });

  test('is redacted in linear time for random combinations of special parts', () => {
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
        const text = piece.repeat(Math.ceil(65_536 / piece.length));
        expect(cpuMsOf(() => redact(text))).toBeLessThan(400);
      }),
      { numRuns: soakCount(300, 30) },
    );
  });
});

test('S6: arguments are redacted one by one, including those that follow a flag', () => {
  const argv = ['mysql', '--password', 'my pass', 'PASSWORD=a b', '-e', 'select 1', '--token'];
  expect(redactArguments(argv, redact)).toEqual([
    'mysql',
    '--password',
    '[redacted]',
    'PASSWORD=[redacted]',
    '-e',
    'select 1',
    '--token',
  ]);
});

test.each([
  [
    ['curl', '-u', 'me:pass'],
    ['curl', '-u', 'me:[redacted]'],
  ],
  [
    ['sshpass', '-p', 'a b', 'ssh'],
    ['sshpass', '-p', '[redacted]', 'ssh'],
  ],
  [
    ['mysql', '-u', 'root', '-pabc'],
    ['mysql', '-u', 'root', '-p[redacted]'],
  ],
  [
    ['docker', 'run', '-e', 'API_KEY=a b'],
    ['docker', 'run', '-e', 'API_KEY=[redacted]'],
  ],
  [
    ['x', '--password=a b'],
    ['x', '--password=[redacted]'],
  ],
  [
    ['aws', 'configure', 'set', 'aws_session_token', 'abc'],
    ['aws', 'configure', 'set', 'aws_session_token', '[redacted]'],
  ],
  [
    ['echo', '--token', 'a', 'b'],
    ['echo', '--token', '[redacted]', 'b'],
  ],
  [
    ['ls', '-la', '/tmp/a b'],
    ['ls', '-la', '/tmp/a b'],
  ],
])('S6: the arguments %j are recorded as %j', (argv, clean) => {
  expect(redactArguments(argv, redact)).toEqual(clean);
});
