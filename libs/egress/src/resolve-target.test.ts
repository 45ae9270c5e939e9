import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { describe, test } from 'node:test';
import { EgressBlockedError } from './egress-error.ts';
import { parseEgressRules } from './egress-rules.ts';
import { checkUrl } from './resolve-target.ts';

const defaults = parseEgressRules({ deny: '', allow: '' });
const publicAddress: LookupAddress = { address: '203.0.113.5', family: 4 };
const noLookup = () => Promise.reject(new Error('a literal needs no lookup'));

describe('a denied literal in every notation', () => {
  const forms: readonly (readonly [host: string, address: string, range: string])[] = [
    ['127.0.0.1', '127.0.0.1', '127.0.0.0/8'],
    ['2130706433', '127.0.0.1', '127.0.0.0/8'],
    ['0x7f.1', '127.0.0.1', '127.0.0.0/8'],
    ['0x7f000001', '127.0.0.1', '127.0.0.0/8'],
    ['0177.0.0.1', '127.0.0.1', '127.0.0.0/8'],
    ['127.1', '127.0.0.1', '127.0.0.0/8'],
    ['127.0.0.1.', '127.0.0.1', '127.0.0.0/8'],
    ['１２７.０.０.１', '127.0.0.1', '127.0.0.0/8'],
    ['①②⑦.0.0.1', '127.0.0.1', '127.0.0.0/8'],
    ['127%2E0%2E0%2E1', '127.0.0.1', '127.0.0.0/8'],
    ['0.0.0.0', '0.0.0.0', '0.0.0.0/8'],
    ['0', '0.0.0.0', '0.0.0.0/8'],
    ['169.254.169.254', '169.254.169.254', '169.254.0.0/16'],
    ['[::]', '::', '::/128'],
    ['[::1]', '::1', '::1/128'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1', '127.0.0.0/8'],
    ['[::127.0.0.1]', '::7f00:1', '127.0.0.0/8'],
    ['[64:ff9b::7f00:1]', '64:ff9b::7f00:1', '127.0.0.0/8'],
    ['[2002:7f00:1::]', '2002:7f00:1::', '127.0.0.0/8'],
    ['[fd00:ec2::254]', 'fd00:ec2::254', 'fc00::/7'],
  ];
  for (const [host, address, range] of forms) {
    test(`http://${host}/`, async () => {
      await assert.rejects(checkUrl(defaults, `http://${host}/hook`, noLookup), (error) => {
        assert.ok(error instanceof EgressBlockedError);
        assert.equal(error.message, `egress blocked: ${address} lies in the denied range ${range}`);
        return true;
      });
    });
  }
});

describe('names', () => {
  for (const host of ['localhost', 'localhost.', 'LOCALHOST', 'api.localhost']) {
    test(`${host} is denied as the loopback, even if it resolves to a public address`, async () => {
      await assert.rejects(checkUrl(defaults, `https://${host}:8443/`), (error) => {
        assert.ok(error instanceof EgressBlockedError);
        assert.equal(error.host, host.toLowerCase());
        assert.match(
          error.message,
          /^egress blocked: (api\.)?localhost\.? is (127\.0\.0\.1|::1), which lies in the denied range /,
        );
        return true;
      });
    });
  }

  test('a public name passes, with its addresses', async () => {
    const target = await checkUrl(defaults, 'https://example.org/hook?x=1', async () => [publicAddress]);
    assert.deepEqual(target.addresses, [publicAddress]);
    assert.equal(target.url.href, 'https://example.org/hook?x=1');
  });

  test('a name is denied when any of its addresses is', async () => {
    const mixed = async () => [publicAddress, { address: 'fe80::1', family: 6 }];
    await assert.rejects(checkUrl(defaults, 'https://example.org/', mixed), {
      message: 'egress blocked: example.org is fe80::1, which lies in the denied range fe80::/10',
    });
  });

  test('a name that does not resolve is a DNS error, not blocked', async () => {
    const failure = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.invalid'), { code: 'ENOTFOUND' });
    await assert.rejects(
      checkUrl(defaults, 'https://nowhere.invalid/', () => Promise.reject(failure)),
      failure,
    );
    await assert.rejects(
      checkUrl(defaults, 'https://nowhere.invalid/', async () => []),
      { code: 'ENOTFOUND' },
    );
  });
});

describe('unusable URLs', () => {
  const urls: readonly (readonly [url: string, message: string])[] = [
    ['not a url', 'not a valid URL'],
    ['http://', 'not a valid URL'],
    ['http://[fe80::1%25eth0]/', 'not a valid URL'],
    ['ftp://example.org/', 'URL scheme ftp: is not http or https'],
    ['file:///etc/passwd', 'URL scheme file: is not http or https'],
    ['https://user@example.org/', 'URL carries credentials'],
    ['https://:secret@example.org/', 'URL carries credentials'],
  ];
  for (const [url, message] of urls) {
    test(url, () => assert.rejects(checkUrl(defaults, url, noLookup), { name: 'EgressFailedError', message }));
  }
});
