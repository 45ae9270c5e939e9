import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { onNewStacks, onOneProcess, stackEnvironment } from '../harness/stacks/target.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

if (!hasOpenssl) test('mail through a private authority', { skip: 'openssl is not on PATH' }, () => {});
else {
  onNewStacks('the processes start with their own authority');
  const directory = mkdtempSync(join(tmpdir(), 'private-ca-'));
  after(() => rmSync(directory, { recursive: true }));

  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

  /** Makes an authority, and its certificate for this machine. */
  function authority(name: string) {
    openssl('req', '-x509', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`);
    const subject = ['-subj', '/CN=mail', '-addext', 'subjectAltName=IP:127.0.0.1'];
    openssl('req', ...newKey, '-keyout', `${name}-mail.key`, '-out', `${name}-mail.csr`, ...subject);
    const signed = ['-CA', `${name}.pem`, '-CAkey', `${name}.key`, '-CAcreateserial', '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-in', `${name}-mail.csr`, ...signed, '-days', '2', '-out', `${name}-mail.pem`);
    const read = (file: string) => readFileSync(join(directory, file));
    return { key: read(`${name}-mail.key`), cert: read(`${name}-mail.pem`) };
  }

  const known = authority('known');
  const unknown = authority('unknown');
  stackEnvironment.NODE_EXTRA_CA_CERTS = join(directory, 'known.pem');

  onOneProcess('mail through a server with a private certificate authority', async (t, target) => {
    const admin = await target.admin();

    /** Sends a test mail to a server with this certificate. Returns the answer, and what the server received. */
    async function send(credentials: { readonly key: Buffer; readonly cert: Buffer }, secure: boolean) {
      const received: string[] = [];
      const server = new SMTPServer({
        ...credentials,
        secure,
        authOptional: true,
        logger: false,
        onData(stream, session, done) {
          received.push(...session.envelope.rcptTo.map(({ address }) => address));
          stream.resume().on('end', done);
        },
      });
      server.on('error', () => {});
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await admin.patch('/api/v1/admin/settings', {
        'smtp.enabled': '1',
        'smtp.host': '127.0.0.1',
        'smtp.port': String((server.server.address() as AddressInfo).port),
        'smtp.secure': secure ? '1' : '0',
        'smtp.require_tls': '1',
        'smtp.from': 'office@example.com',
      });
      const body = { to: 'ada@example.com' };
      const answer = await admin.send('POST', '/api/v1/admin/settings/test-email', { body });
      await new Promise<void>((resolve) => server.close(() => resolve()));
      return { answer, received };
    }

    for (const secure of [true, false]) {
      const how = secure ? 'TLS' : 'STARTTLS';
      await t.test(`NODE_EXTRA_CA_CERTS names the authority that ${how} accepts [mail §1.3]`, async () => {
        const { answer, received } = await send(known, secure);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(received, ['ada@example.com']);
      });
      await t.test(`another authority is refused over ${how} [mail §1.3]`, async () => {
        const { answer, received } = await send(unknown, secure);
        assert.equal(answer.status, 502, answer.text);
        assert.match(answer.text, /certificate/);
        assert.deepEqual(received, []);
      });
    }
  });
}
