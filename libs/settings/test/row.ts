/** A key's default text with its value, accepted texts with their values, and refused texts with the message. */
export interface Row {
  readonly text: string;
  readonly value?: unknown;
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly (readonly [text: string, message: RegExp])[];
}

export const day = 86_400;

export const flag = (text: '0' | '1'): Row => ({
  text,
  good: [
    ['0', false],
    ['1', true],
  ],
  bad: ['2', 'true', 'yes', ' 1', '01'].map((bad) => [bad, /"0" or "1"/]),
});

export const whole = (text: string, min: number, max: number): Row => ({
  text,
  good: [min, max].map((edge) => [String(edge), edge]),
  bad: ['-1', '1.5', 'abc', '1e3', ' 5', '0x10', '99999999999999999999', String(max + 1)].map((bad) => [
    bad,
    /whole number from \d+ to \d+/,
  ]),
});

export const window = (defaultSec: number): Row => ({
  text: String(defaultSec),
  good: [
    ['60', 60],
    ['86400', day],
    [String(365 * day), 365 * day],
    ...['59', '0', '-5', '1.5', 'abc', ' 3600', String(365 * day + 1), '1e5'].map((bad) => [bad, defaultSec] as const),
  ],
  bad: [['3600\0', /control characters/]],
});

export const url: Row = {
  text: '',
  good: [
    ['https://example.com/path?x=1', 'https://example.com/path?x=1'],
    ['http://127.0.0.1:8090', 'http://127.0.0.1:8090'],
  ],
  bad: ['example.com', 'ftp://example.com', 'javascript:alert(1)', 'https://', 'https://a b'].map((bad) => [
    bad,
    /URL that starts with|spaces/,
  ]),
};

export const opaque: Row = {
  text: '',
  good: [
    ['abc-123_~.=/+', 'abc-123_~.=/+'],
    ['!"#$', '!"#$'],
  ],
  bad: [
    ['a b', /visible ASCII/],
    ['a\nb', /visible ASCII/],
    ['ключ', /visible ASCII/],
    ['x'.repeat(4097), /at most 4096/],
  ],
};

export const secret: Row = { ...opaque, bad: [...opaque.bad, ['enc:1:abc:def', /enc:1:/]] };

export const cidrs = (asList: boolean): Row => ({
  text: '',
  value: asList ? [] : '',
  good: ['10.0.0.0/8', '10.0.0.0/8, fd00::/8', '192.0.2.1', '::1'].map((text) => [
    text,
    asList ? text.split(', ') : text,
  ]),
  bad: ['10.0.0.0/33', 'example.com', '10.0.0', '10.0.0.0/8;11.0.0.0/8', 'off'].map((bad) => [
    bad,
    /not an IP address or CIDR range: "/,
  ]),
});
