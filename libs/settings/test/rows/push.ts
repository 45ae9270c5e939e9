import { generateKeyPairSync } from 'node:crypto';
import type { SettingKey } from '../../src/index.ts';
import { flag, type Row, secret } from '../row.ts';

const rsaKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

const rsaPem = String(rsaKeys.privateKey.export({ type: 'pkcs8', format: 'pem' })).trim();

const rsaPkcs1Pem = String(rsaKeys.privateKey.export({ type: 'pkcs1', format: 'pem' })).trim();

const ecPem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

const account = {
  type: 'service_account',
  project_id: 'my-project',
  private_key: `${rsaPem}\n`,
  client_email: 'push@my-project.iam.gserviceaccount.com',
};

export const pushRows = {
  'notifications.providers.onesignal.enabled': flag('0'),
  'notifications.providers.onesignal.app_id': {
    text: '',
    good: [['0f8fad5b-d9cb-469f-a165-70867728950e', '0f8fad5b-d9cb-469f-a165-70867728950e']],
    bad: ['0f8fad5b', '0f8fad5bd9cb469fa16570867728950e', 'zf8fad5b-d9cb-469f-a165-70867728950e'].map((bad) => [
      bad,
      /UUID/,
    ]),
  },
  'notifications.providers.onesignal.api_key': secret,
  'notifications.providers.fcm.enabled': flag('0'),
  'notifications.providers.fcm.project_id': {
    text: '',
    good: [
      ['my-project', 'my-project'],
      ['example.com:my-project', 'example.com:my-project'],
    ],
    bad: ['My Project', 'a/b', '-a'].map((bad) => [bad, /project id/]),
  },
  'notifications.providers.fcm.service_account': {
    text: '',
    value: undefined,
    good: [
      [JSON.stringify(account), { ...account, private_key: rsaPem }],
      // As it comes out of an environment variable, or of openssl.
      [
        JSON.stringify({ ...account, private_key: rsaPem.replaceAll('\n', '\\n') }),
        { ...account, private_key: rsaPem },
      ],
      [JSON.stringify({ ...account, private_key: rsaPkcs1Pem }), { ...account, private_key: rsaPkcs1Pem }],
      [
        JSON.stringify(
          { ...account, token_uri: 'http://127.0.0.1:1/token', universe_domain: 'googleapis.com' },
          null,
          2,
        ),
        { ...account, private_key: rsaPem, token_uri: 'http://127.0.0.1:1/token' },
      ],
    ],
    bad: [
      ['nonsense', /JSON document/],
      ['[]', /JSON document/],
      ['"text"', /JSON document/],
      [JSON.stringify({ ...account, type: 'authorized_user' }), /type must be "service_account"/],
      [JSON.stringify({ ...account, private_key: undefined }), /private_key must be a string/],
      [JSON.stringify({ ...account, private_key: 'abc' }), /private_key must be a private key/],
      [JSON.stringify({ ...account, private_key: ecPem }), /private_key must be an RSA key/],
      [JSON.stringify({ ...account, private_key: rsaPem.replace(/\n.*\n/, '\n') }), /private_key must be an RSA key/],
      [JSON.stringify({ ...account, client_email: undefined }), /client_email must be a string/],
      [JSON.stringify({ ...account, project_id: '' }), /project_id must not be empty/],
      [JSON.stringify({ ...account, token_uri: 'file:///etc/passwd' }), /token_uri must be a URL/],
    ],
  },
} satisfies Partial<Record<SettingKey, Row>>;
