import { expect, test } from 'vitest';
import { containsPassword, looksSecret } from './looks-secret.ts';

test.each(
  'GITHUB_TOKEN NACRE_TOKEN NACRE_HTTP_TOKEN github_token npm_config_authToken DB_PASSWORD PGPASSWORD MYSQL_PWD SSHPASS AWS_SECRET_ACCESS_KEY OPENAI_API_KEY OPENAI_APIKEY STRIPE_KEY GPG_PASSPHRASE GOOGLE_APPLICATION_CREDENTIALS GH_PAT SESSION_JWT CLIENT_SECRET REDISCLI_AUTH MAIL_PASS TOKEN'.split(
    ' ',
  ),
)('%s names a secret', (name) => {
  expect(looksSecret(name)).toBe(true);
});

test.each(
  'JAVA_HOME NVM_DIR VIRTUAL_ENV SSH_AUTH_SOCK TOKENIZERS_PARALLELISM KEYBOARD_LAYOUT PATH PWD OLDPWD KEY SSH_ASKPASS XAUTHORITY COMPASS MONKEY PATTERN AUTHOR GIT_AUTHOR_NAME KEYS_DIR'.split(
    ' ',
  ),
)('%s does not name a secret', (name) => {
  expect(looksSecret(name)).toBe(false);
});

test.each([
  'postgres://user:secret@host/db',
  'redis://:secret@host:6379',
  'amqps://user:se%40cret@host',
  'mongodb+srv://user:secret@cluster.example/db',
  'jdbc:postgresql://host/db?user=a&password=secret',
  'Server=db;Database=a;User Id=sa;Password=secret;',
  'Server=db; Pwd = secret',
  'host=db user=a password=secret dbname=b',
  'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0',
])('the value %s carries a password', (value) => {
  expect(containsPassword('ANY_NAME', value)).toBe(true);
});

test.each([
  'postgres://host/db',
  'https://user@host/path:80@x',
  'ssh://git@host:22/x',
  'Server=db;Integrated Security=true',
  'password',
  '--password-store=basic',
])('the value %s carries none', (value) => {
  expect(containsPassword('ANY_NAME', value)).toBe(false);
});
