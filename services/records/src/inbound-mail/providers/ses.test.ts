import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { createMailParser } from '../mime/mail-parser.ts';
import { createSes } from './ses.ts';

const topic = 'arn:aws:sns:eu-central-1:123456789012:mails';
const host = 'sns.eu-central-1.amazonaws.com';
const certificateUrl = `https://${host}/SimpleNotificationService-${'0'.repeat(32)}.pem`;
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe('mails from Amazon SES', { skip: hasOpenssl ? false : 'openssl is not on PATH' }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-sns-'));
  const log = createLogger('test', 'silent');
  const parser = createMailParser({ log });
  after(() => {
    parser.stop();
    rmSync(directory, { recursive: true });
  });

  /** Makes a key pair and its certificate. */
  function keyPair(name: string) {
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${host}`];
    execFileSync('openssl', [...args, '-keyout', `${name}.key`, '-out', `${name}.pem`], {
      cwd: directory,
      stdio: 'pipe',
    });
    const read = (file: string) => readFileSync(join(directory, file));
    return { key: createPrivateKey(read(`${name}.key`)), pem: read(`${name}.pem`) };
  }
  const own = keyPair('own');
  const stranger = keyPair('stranger');

  const signedMembers = {
    Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
    SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  };

  /** A message as SNS sends it, signed. Members that are changed afterwards break the signature. */
  function message(given: Record<string, string>, { key = own.key, ...changed }: Record<string, unknown> = {}) {
    const body: Record<string, string> = {
      Type: 'Notification',
      MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
      TopicArn: topic,
      Timestamp: new Date().toISOString(),
      SignatureVersion: '1',
      SigningCertURL: certificateUrl,
      ...given,
    };
    const names = signedMembers[body.Type as 'Notification'];
    const text = names.map((name) => (name in body ? `${name}\n${body[name]}\n` : '')).join('');
    const algorithm = body.SignatureVersion === '1' ? 'sha1' : 'sha256';
    const Signature = sign(algorithm, Buffer.from(text), key as typeof own.key).toString('base64');
    return Buffer.from(JSON.stringify({ ...body, Signature, ...changed }));
  }

  const raw =
    'From: Ada <ada@example.com>\r\nTo: desk@example.org\r\nSubject: Help\r\nMessage-ID: <1@example.com>\r\n\r\nPlease\r\n';
  const received = (content: string, action = {}) =>
    JSON.stringify({
      notificationType: 'Received',
      mail: { messageId: 'o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1', source: 'ada@example.com' },
      receipt: { recipients: ['desk@example.org'], action: { type: 'SNS', topicArn: topic, ...action } },
      content,
    });

  /** The provider, with a network in which the host answers with `pem`. */
  function provider({ pem = own.pem as Uint8Array, status = 200 } = {}) {
    const requests: string[] = [];
    const client = {
      request: async (url: string | URL) => {
        requests.push(String(url));
        return { status, headers: {}, body: String(url).endsWith('.pem') ? pem : new Uint8Array(), truncated: false };
      },
    };
    const ses = createSes({ parser, client, log });
    const read = (body: Buffer, secret = topic) => ses.read({ body, contentType: 'text/plain; charset=UTF-8', secret });
    return { requests, read };
  }
  const refusal = (status: number) => (error: { status?: number }) => error.status === status;

  for (const SignatureVersion of ['1', '2'])
    it(`takes a mail with a signature of version ${SignatureVersion}`, async () => {
      const { read, requests } = provider();
      const delivery = await read(message({ Message: received(raw), SignatureVersion, Subject: 'Amazon SES' }));
      assert.equal(delivery?.messageKey, 'o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1');
      assert.deepEqual(delivery?.mail.from, { name: 'Ada', address: 'ada@example.com' });
      assert.deepEqual([delivery?.mail.subject, delivery?.mail.text?.trim()], ['Help', 'Please']);
      assert.deepEqual(delivery?.mail.recipients, ['desk@example.org']);
      await read(message({ Message: received(raw) }));
      assert.deepEqual(requests, [certificateUrl], 'the certificate is fetched once');
    });

  it('takes a mail in base64', async () => {
    const text = received(Buffer.from(raw).toString('base64'), { encoding: 'BASE64' });
    assert.equal((await provider().read(message({ Message: text })))?.mail.message_id, '<1@example.com>');
  });

  it('refuses what SNS has not signed', async () => {
    const { read } = provider();
    await assert.rejects(read(message({ Message: received(raw) }, { key: stranger.key })), refusal(401));
    await assert.rejects(read(message({ Message: received(raw) }, { Message: received('other') })), refusal(401));
    await assert.rejects(read(message({ Message: received(raw) }, { SignatureVersion: '3' })), refusal(400));
  });

  it('refuses a certificate that has expired', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * 86_400_000 });
    await assert.rejects(provider().read(message({ Message: received(raw) })), refusal(401));
  });

  it('asks no other host for a certificate', async () => {
    const { read, requests } = provider();
    const path = `/SimpleNotificationService-${'0'.repeat(32)}.pem`;
    const urls = [
      `http://${host}${path}`,
      `https://${host}:8443${path}`,
      `https://${host}.example.com${path}`,
      `https://example.com/${host}${path}`,
      `https://${host}@example.com${path}`,
      `https://a:b@${host}${path}`,
      `https://sns.us-east-1.amazonaws.com${path}`,
      `https://attacker.s3.amazonaws.com${path}`,
      `https://${host}/../x.pem`,
      `https://${host}/?next=https://example.com${path}`,
      `https://127.0.0.1${path}`,
      'file:///etc/passwd',
      'x',
    ];
    for (const SigningCertURL of urls)
      await assert.rejects(read(message({ Message: received(raw), SigningCertURL })), refusal(401), SigningCertURL);
    assert.deepEqual(requests, []);
  });

  it('refuses another topic and an old message, and asks for nothing', async () => {
    const { read, requests } = provider();
    await assert.rejects(read(message({ Message: received(raw), TopicArn: `${topic}2` })), refusal(401));
    await assert.rejects(read(message({ Message: received(raw) }), 'not a topic'), refusal(401));
    for (const Timestamp of ['2020-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', 'yesterday'])
      await assert.rejects(read(message({ Message: received(raw), Timestamp })), refusal(401));
    assert.deepEqual(requests, []);
  });

  it('confirms a subscription at the host of the topic, whatever URL the message has', async () => {
    const { read, requests } = provider();
    const confirmation = {
      Type: 'SubscriptionConfirmation',
      Token: 'a&b',
      Message: 'You have chosen …',
      SubscribeURL: 'http://169.254.169.254/',
    };
    assert.equal(await read(message(confirmation)), undefined);
    const query = `Action=ConfirmSubscription&TopicArn=${encodeURIComponent(topic)}&Token=a%26b`;
    assert.deepEqual(requests, [certificateUrl, `https://${host}/?${query}`]);
    await assert.rejects(provider({ status: 403 }).read(message(confirmation)), refusal(401));
    await assert.rejects(read(message(confirmation, { Token: 'other' })), refusal(401));
  });

  it('fetches few certificates that nobody signed with', async () => {
    const { read, requests } = provider({ status: 404 });
    for (let index = 0; index < 40; index += 1) {
      const SigningCertURL = `https://${host}/SimpleNotificationService-${String(index).padStart(32, '0')}.pem`;
      await assert.rejects(read(message({ Message: received(raw), SigningCertURL })));
    }
    assert.ok(requests.length <= 20, String(requests.length));
  });

  it('passes over what is not a mail, and refuses a mail whose text is elsewhere', async () => {
    const { read } = provider();
    assert.equal(await read(message({ Message: 'Successfully validated SNS topic' })), undefined);
    assert.equal(await read(message({ Message: '{"notificationType":"Bounce"}' })), undefined);
    const stored = JSON.stringify({
      notificationType: 'Received',
      mail: { messageId: '1' },
      receipt: { action: { type: 'S3' } },
    });
    await assert.rejects(read(message({ Message: stored })), refusal(422));
    for (const body of ['', '[]', '{}', '{"Type":"Notification"}', '\xff'])
      await assert.rejects(read(Buffer.from(body, 'latin1')), refusal(400));
  });
});
