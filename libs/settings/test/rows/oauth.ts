import type { SettingKey } from '../../src/index.ts';
import { oauthProviderNames } from '../../src/registry/oauth-providers.ts';
import { flag, opaque, type Row, secret, url } from '../row.ts';

const pem =
  '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG\nCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----';

/** RFC 6749 appendix A takes spaces too. */
const withSpaces = (row: Row): Row => ({
  ...row,
  good: [...row.good, ['a b', 'a b']],
  bad: row.bad.filter(([text]) => text !== 'a b'),
});

const providerRows = Object.fromEntries(
  oauthProviderNames.flatMap((name) => [
    [`oauth2.${name}.enabled`, flag('0')],
    [`oauth2.${name}.client_id`, withSpaces(opaque)],
    [`oauth2.${name}.client_secret`, withSpaces(secret)],
  ]),
) as Record<Extract<SettingKey, `oauth2.${string}.${'enabled' | 'client_id' | 'client_secret'}`>, Row>;

export const oauthRows = {
  ...providerRows,
  'oauth2.gitlab.endpoint': url,
  'oauth2.microsoft.tenant': {
    text: 'common',
    good: [['contoso.onmicrosoft.com', 'contoso.onmicrosoft.com']],
    bad: ['a/b', '..', ''.padEnd(300, 'x')].map((bad) => [bad, /tenant/]),
  },
  'oauth2.apple.team_id': {
    text: '',
    good: [['ABCDE12345', 'ABCDE12345']],
    bad: ['ABCDE1234', 'ABCDE123456', 'ABCDE-1234'].map((bad) => [bad, /10 letters and digits/]),
  },
  'oauth2.apple.key_id': {
    text: '',
    good: [['KEY1234567', 'KEY1234567']],
    bad: [
      ['a b', /letters and digits/],
      ['x'.repeat(65), /letters/],
    ],
  },
  'oauth2.apple.private_key': {
    text: '',
    good: [
      [pem, pem],
      [`${pem}\n`, pem],
      [pem.replaceAll('\n', '\\n'), pem],
      [pem.replaceAll('\n', '\r\n'), pem],
    ],
    bad: [
      ...[
        'abc',
        pem.replace('END', 'STOP'),
        pem.replaceAll('PRIVATE', 'PUBLIC'),
        pem.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'),
        pem.replace('MIG', 'M!G'),
      ].map((bad) => [bad, /private key in PEM form/] as const),
      ['enc:1:a:b', /enc:1:/],
    ],
  },
  'oauth2.oidc.issuer': url,
  'oauth2.oidc.authorization_url': url,
  'oauth2.oidc.token_url': url,
  'oauth2.oidc.userinfo_url': url,
  'oauth2.oidc.scopes': {
    text: 'openid profile email',
    good: [
      ['openid', 'openid'],
      ['openid https://a.example/scope.read', 'openid https://a.example/scope.read'],
    ],
    bad: [
      ['openid,"email"', /separated by spaces/],
      [' openid', /separated by spaces/],
      ['a\nb', /separated/],
    ],
  },
  'oauth2.oidc.display_name': {
    text: '',
    good: [['Zürich SSO', 'Zürich SSO']],
    bad: [
      ['a\nb', /one line/],
      ['x'.repeat(101), /at most 100/],
    ],
  },
} satisfies Partial<Record<SettingKey, Row>>;
