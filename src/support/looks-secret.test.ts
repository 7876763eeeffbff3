import { expect, test } from 'vitest';
import { looksSecret } from './looks-secret.ts';

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
