import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { validateCidrList } from './cidr.ts';
import { checkAddress, parseEgressRules, validateDenyList } from './egress-rules.ts';

const defaults = parseEgressRules({ deny: '', allow: '' });

describe('the default ranges [webhooks §7.1]', () => {
  const denied: readonly (readonly [address: string, range: string])[] = [
    ['0.0.0.0', '0.0.0.0/8'],
    ['0.1.2.3', '0.0.0.0/8'],
    ['10.255.255.255', '10.0.0.0/8'],
    ['100.64.0.1', '100.64.0.0/10'],
    ['100.127.255.255', '100.64.0.0/10'],
    ['127.0.0.1', '127.0.0.0/8'],
    ['127.255.255.254', '127.0.0.0/8'],
    ['169.254.169.254', '169.254.0.0/16'],
    ['172.16.0.1', '172.16.0.0/12'],
    ['172.31.255.255', '172.16.0.0/12'],
    ['192.0.0.170', '192.0.0.0/24'],
    ['192.88.99.1', '192.88.99.0/24'],
    ['192.168.1.1', '192.168.0.0/16'],
    ['198.19.0.1', '198.18.0.0/15'],
    ['224.0.0.1', '224.0.0.0/4'],
    ['240.0.0.1', '240.0.0.0/4'],
    ['255.255.255.255', '240.0.0.0/4'],
    ['::', '::/128'],
    ['::1', '::1/128'],
    ['0:0:0:0:0:0:0:1', '::1/128'],
    ['100::1', '100::/64'],
    ['2001:0:1::1', '2001::/32'],
    ['5f00::1', '5f00::/16'],
    ['fc00::1', 'fc00::/7'],
    ['fd00:ec2::254', 'fc00::/7'],
    ['fe80::1', 'fe80::/10'],
    ['fe80::1%eth0', 'fe80::/10'],
    ['febf::1', 'fe80::/10'],
    ['fec0::1', 'fec0::/10'],
    ['ff02::1', 'ff00::/8'],
    // IPv4 inside IPv6
    ['::ffff:127.0.0.1', '127.0.0.0/8'],
    ['::ffff:a9fe:a9fe', '169.254.0.0/16'],
    ['::127.0.0.1', '127.0.0.0/8'],
    ['::ffff:0:10.0.0.1', '10.0.0.0/8'],
    ['64:ff9b::7f00:1', '127.0.0.0/8'],
    ['64:ff9b::10.0.0.1', '10.0.0.0/8'],
    ['64:ff9b:1::192.168.0.1', '192.168.0.0/16'],
    ['2002:7f00:1::', '127.0.0.0/8'],
    ['2002:a9fe:a9fe::1', '169.254.0.0/16'],
    // not addresses
    ['', 'unknown (not an IP address)'],
    ['localhost', 'unknown (not an IP address)'],
    ['127.1', 'unknown (not an IP address)'],
    ['0177.0.0.1', 'unknown (not an IP address)'],
    ['1.2.3.4.5', 'unknown (not an IP address)'],
    ['[::1]', 'unknown (not an IP address)'],
  ];
  for (const [address, range] of denied) {
    test(`deny ${address || 'an empty string'}`, () => {
      assert.deepEqual(checkAddress(defaults, address), { address, range });
    });
  }

  const allowed = [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '203.0.113.7',
    '2606:4700::1111',
    '2001:4860:4860::8888',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::8.8.8.8',
    '2002:808:808::1',
  ];
  for (const address of allowed) {
    test(`allow ${address}`, () => assert.equal(checkAddress(defaults, address), undefined));
  }
});

describe('the lists [webhooks §7.1]', () => {
  test('a deny list replaces the default', () => {
    const rules = parseEgressRules({ deny: '203.0.113.0/24 , 2001:db8::/32,', allow: '' });
    assert.equal(checkAddress(rules, '127.0.0.1'), undefined);
    assert.deepEqual(checkAddress(rules, '203.0.113.9'), { address: '203.0.113.9', range: '203.0.113.0/24' });
    assert.equal(checkAddress(rules, '2001:db8::9')?.range, '2001:db8::/32');
    assert.equal(checkAddress(rules, '::ffff:203.0.113.9')?.range, '203.0.113.0/24');
  });

  test('an exception wins over a denied range, for embedded addresses too', () => {
    const rules = parseEgressRules({ deny: '', allow: '10.1.0.0/16, fd12::5' });
    assert.equal(checkAddress(rules, '10.1.2.3'), undefined);
    assert.equal(checkAddress(rules, '::ffff:10.1.2.3'), undefined);
    assert.equal(checkAddress(rules, '64:ff9b::10.1.2.3'), undefined);
    assert.equal(checkAddress(rules, '2002:a01:203::'), undefined);
    assert.equal(checkAddress(rules, 'fd12::5'), undefined);
    assert.equal(checkAddress(rules, '10.2.0.1')?.range, '10.0.0.0/8');
    assert.equal(checkAddress(rules, 'fd12::6')?.range, 'fc00::/7');
  });

  test('an exception for ::1 is enough for ::1', () => {
    assert.equal(checkAddress(parseEgressRules({ deny: '', allow: '::1' }), '::1'), undefined);
  });

  test('an exception for the outer form does not allow the address inside', () => {
    const rules = parseEgressRules({ deny: '', allow: '64:ff9b::/96' });
    assert.equal(checkAddress(rules, '64:ff9b::127.0.0.1')?.range, '127.0.0.0/8');
  });

  test('a range in the mapped form means the IPv4 range', () => {
    const rules = parseEgressRules({ deny: '::ffff:203.0.113.0/120', allow: '' });
    assert.equal(checkAddress(rules, '203.0.113.200')?.range, '::ffff:203.0.113.0/120');
  });

  for (const [prefix, address] of [
    ['/48', '64:ff9b:1:7f00:0:100::'],
    ['/56', '64:ff9b:1:ab7f:0:1::'],
    ['/64', '64:ff9b:1:abcd:7f:0:100:0'],
    ['/96', '64:ff9b:1:abcd:0:1:7f00:1'],
  ] as const) {
    test(`127.0.0.1 is recognized in a local NAT64 prefix with length ${prefix}`, () => {
      const rules = parseEgressRules({ deny: '127.0.0.1', allow: '' });
      assert.deepEqual(checkAddress(rules, address), { address, range: '127.0.0.1' });
    });
  }

  test('0.0.0.0/0 and ::/0 deny everything but the exceptions', () => {
    const rules = parseEgressRules({ deny: '0.0.0.0/0,::/0', allow: '198.51.100.7' });
    assert.equal(checkAddress(rules, '8.8.8.8')?.range, '0.0.0.0/0');
    assert.equal(checkAddress(rules, '2606:4700::1111')?.range, '::/0');
    assert.equal(checkAddress(rules, '198.51.100.7'), undefined);
  });

  test('off disables the filter', () => {
    for (const deny of ['off', ' OFF ']) {
      assert.equal(checkAddress(parseEgressRules({ deny, allow: '' }), '169.254.169.254'), undefined);
    }
  });

  test('a list with only commas means the default', () => {
    assert.equal(checkAddress(parseEgressRules({ deny: ' , ', allow: '' }), '127.0.0.1')?.range, '127.0.0.0/8');
  });

  const bad = [
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0/8',
    'localhost',
    '::1%lo',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
  ];
  for (const entry of bad) {
    test(`${entry} is refused by name`, () => {
      const message = `not an IP address or CIDR range: "${entry}"`;
      assert.throws(() => parseEgressRules({ deny: `10.0.0.0/8, ${entry}`, allow: '' }), { message });
      assert.throws(() => parseEgressRules({ deny: '', allow: entry }), { message });
      assert.equal(validateCidrList(`10.0.0.0/8,${entry}`), message);
      assert.equal(validateDenyList(entry), message);
    });
  }

  test('only the deny list can be off', () => {
    assert.equal(validateDenyList('off'), undefined);
    assert.equal(validateCidrList('off'), 'not an IP address or CIDR range: "off"');
    assert.equal(validateCidrList(''), undefined);
  });
});
