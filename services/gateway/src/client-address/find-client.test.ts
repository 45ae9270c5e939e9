import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFindClient } from './find-client.ts';
import { normalizeAddress } from './normalize-address.ts';

describe("an address's normal form [http §9.3]", () => {
  const forms: readonly (readonly [text: string, normal: string | undefined])[] = [
    ['192.0.2.7', '192.0.2.7'],
    [' 192.0.2.7:4711 ', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['[::ffff:192.0.2.7]:80', '192.0.2.7'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['unknown', undefined],
    ['', undefined],
    ['1.2.3', undefined],
    ['_hidden', undefined],
  ];
  for (const [text, normal] of forms) test(JSON.stringify(text), () => assert.equal(normalizeAddress(text), normal));
});

describe('the client address [http §9.2]', () => {
  const cases: readonly (readonly [
    name: string,
    trusted: string[],
    peer: string,
    header: string | undefined,
    client: string,
  ])[] = [
    ['the peer, when no proxy is trusted', [], '10.0.0.1', '192.0.2.7', '10.0.0.1'],
    ['the peer, when it is not trusted', ['10.0.0.0/8'], '192.0.2.1', '192.0.2.7', '192.0.2.1'],
    ['the header, from a trusted peer', ['10.0.0.0/8'], '10.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['the header, when the peer is IPv4-mapped IPv6', ['10.0.0.0/8'], '::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
    [
      'the first from the right that is not trusted',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '6.6.6.6, 192.0.2.7, 10.1.1.1',
      '192.0.2.7',
    ],
    ['the leftmost, when all are trusted', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    [
      'the last valid one, before an invalid entry',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '192.0.2.7, rubbish, 10.0.0.2',
      '10.0.0.2',
    ],
    ['the peer, without a header', ['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
    ['the header of a single trusted address', ['2001:db8::5'], '2001:db8::5', '192.0.2.7:99', '192.0.2.7'],
  ];
  for (const [name, trusted, peer, header, client] of cases)
    test(name, () => assert.equal(createFindClient(trusted)(peer, header), client));
});
