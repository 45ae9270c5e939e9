import { pngOf } from '../../harness/clients/png.ts';
import { mutate, type Random } from './random.ts';

/** Makes one case's bytes. */
export type MakeCase = (random: Random) => readonly Uint8Array[];

export const collection = 'raw_things';

interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const headOf = ({ method, path, headers }: Head): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');

/** A request whose head is right and whose body is not. Some are cut off, or say another length. */
function request(random: Random, head: Head, body: Buffer): readonly Uint8Array[] {
  const length = random.oneIn(20) ? body.length + random.below(100) : body.length;
  const headers = { Connection: 'close', 'Content-Length': String(length), ...head.headers };
  const cut = random.below(body.length + 1);
  const start = Buffer.from(headOf({ ...head, headers }));
  return random.oneIn(2) ? [Buffer.concat([start, body])] : [start, body.subarray(0, cut), body.subarray(cut)];
}

const boundary = 'XrawX';
const dispositions = [
  'Content-Disposition: form-data; name="title"',
  'Content-Disposition: form-data; name="photo"; filename="a.png"',
  'Content-Disposition: form-data; name="_json"',
  'Content-Disposition: form-data; name="operations"',
  'Content-Disposition: form-data; name="0.photo"; filename="a.png"',
  'Content-Disposition: form-data; name="tags"; filename*=UTF-8\'\'%e2%82',
  'Content-Disposition: form-data',
  'Content-Disposition: form-data; filename="a"',
  'Content-Disposition: attachment; name="title"',
  'Content-Disposition',
  'Content-Type: text/plain; charset=utf-16',
  'Content-Type: multipart/mixed; boundary=inner',
  'Content-Transfer-Encoding: base64',
  ': empty',
  '',
];
const contents = [
  'x',
  '',
  '{"title": "a"}',
  `[{"op": "create", "collection": "${collection}", "data": {"title": "x"}}]`,
  '--inner\r\n\r\nx\r\n--inner--',
];

/** A form, whole or broken, for a record or a batch. */
export const formCase: MakeCase = (random) => {
  const parts = Array.from({ length: random.below(5) }, () => {
    const lines = Array.from({ length: random.below(3) + 1 }, () => random.one(dispositions));
    const text = random.oneIn(10) ? random.bytes(300) : Buffer.from(random.one(contents));
    return Buffer.concat([Buffer.from(`--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n`), text, Buffer.from('\r\n')]);
  });
  const whole = Buffer.concat([...parts, Buffer.from(random.oneIn(10) ? `--${boundary}` : `--${boundary}--\r\n`)]);
  const named = random.oneIn(20)
    ? random.one(['', '; boundary=', '; boundary="', `; boundary=${'x'.repeat(300)}`])
    : `; boundary=${boundary}`;
  const path = random.one([`/api/v1/${collection}`, `/api/v1/${collection}/raw`, '/api/v1/batch']);
  const method = path.endsWith('raw') ? random.one(['PATCH', 'PUT']) : 'POST';
  const key: Record<string, string> = random.oneIn(10) ? { 'Idempotency-Key': random.bytes(9).toString('hex') } : {};
  return request(
    random,
    { method, path, headers: { 'Content-Type': `multipart/form-data${named}`, ...key } },
    random.oneIn(3) ? whole : mutate(random, whole),
  );
};

/** How the image formats with previews begin, and what follows in a small image. */
const images = [
  pngOf(8, 8, { isNoise: false }),
  Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
  Buffer.from('UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQAA3AA/v3AgAA=', 'base64'),
  Buffer.from(
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
    'base64',
  ),
];

/** An image with a broken head, uploaded under the id that its preview is read from. */
export const imageCase: MakeCase = (random) => {
  const image = mutate(random, random.one(images), 3);
  const start = Buffer.from(`--${boundary}\r\n${dispositions[1]}\r\n\r\n`);
  const body = Buffer.concat([start, image, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const headers = {
    'Content-Type': `multipart/form-data; boundary=${boundary}`,
    'Content-Length': String(body.length),
    Connection: 'close',
  };
  return [Buffer.concat([Buffer.from(headOf({ method: 'POST', path: `/api/v1/${collection}`, headers })), body])];
};

const csv = Buffer.from('title,tags\r\n"a ""quoted"" text",a\r\nb,"[""a"",""b""]"\r\n,\r\n');
const lines = Buffer.from('{"title": "a"}\n{"title": "b", "tags": ["a"]}\n\n{"title": null}\n');

const importCase =
  (type: string, original: Buffer, token: string): MakeCase =>
  (random) => {
    const options = random.one(['', '&encoding=utf-16le', '&encoding=latin1', '&mode=upsert', '&null=x']);
    const path = `/api/v1/records/${collection}/import?dry_run=1${options}`;
    const headers = { 'Content-Type': type, Authorization: `Bearer ${token}` };
    return request(random, { method: 'POST', path, headers }, mutate(random, original, 6));
  };

export const csvCase = (token: string): MakeCase => importCase('text/csv', csv, token);
export const ndjsonCase = (token: string): MakeCase => importCase('application/x-ndjson', lines, token);

/** A WebSocket frame (RFC 6455 §5.2), with any bits. */
function frame(random: Random, payload: Buffer): Buffer {
  const first = random.oneIn(3)
    ? random.below(256)
    : random.one([0x81, 0x82, 0x89, 0x8a, 0x88, 0x01, 0x80, 0xc1, 0xf1]);
  const masked = random.oneIn(8) ? 0 : 0x80;
  const mask = random.bytes(4);
  const length = random.oneIn(8) ? random.below(126) : payload.length;
  const size = random.oneIn(12)
    ? Buffer.concat([Buffer.from([masked | 127]), random.bytes(8)])
    : length > 125 || random.oneIn(12)
      ? Buffer.from([masked | 126, length >> 8, length & 0xff])
      : Buffer.from([masked | length]);
  const content = masked ? payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)) : payload;
  return Buffer.concat([Buffer.from([first]), size, masked ? mask : Buffer.alloc(0), content]);
}

const messages = [
  '{"type":"ping"}',
  `{"type":"subscribe","collection":"${collection}"}`,
  '{"type":"auth","token":"x"}',
  '{"type":"unsubscribe","id":"x"}',
  '{',
  '[]',
  '"\\ud800"',
  '\xff\xfe',
];

/** A WebSocket with whole and broken frames. The client then ends the connection. */
export const frameCase: MakeCase = (random) => {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': random.bytes(16).toString('base64'),
    ...(random.oneIn(3) && { 'Sec-WebSocket-Extensions': 'permessage-deflate' }),
  };
  const head = Buffer.from(headOf({ method: 'GET', path: '/api/v1/realtime', headers }));
  const frames = Array.from({ length: random.below(4) + 1 }, () => {
    const text = Buffer.from(random.one(messages), 'latin1');
    return frame(random, random.oneIn(3) ? mutate(random, text) : text);
  });
  return [random.oneIn(6) ? mutate(random, head) : head, ...frames];
};

const heads = [
  headOf({
    method: 'GET',
    path: `/api/v1/${collection}?filter=title%20=%20%22a%22&sort=-created`,
    headers: { Cookie: 'a=b; c="d"', 'If-None-Match': 'W/"1"' },
  }),
  headOf({
    method: 'GET',
    path: '/api/v1/realtime?subscribe=%7B%7D',
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': '1-1' },
  }),
  `${headOf({
    method: 'POST',
    path: `/api/v1/${collection}`,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': '2',
      Expect: '100-continue',
      'X-Forwarded-For': '::1, x',
    },
  })}{}`,
  `${headOf({
    method: 'POST',
    path: `/api/v1/${collection}`,
    headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked', traceparent: '00-x' },
  })}2\r\n{}\r\n0\r\nX: y\r\n\r\n`,
  headOf({
    method: 'OPTIONS',
    path: '*',
    headers: { Origin: 'http://a', 'Access-Control-Request-Method': 'GET', 'X-Request-Id': '\xe4' },
  }),
  headOf({
    method: 'GET',
    path: `/api/files/${collection}/raw/a.png?thumb=100x100&token=x`,
    headers: { Range: 'bytes=0-1', 'If-Range': '"x"', Authorization: 'Basic eA==' },
  }),
];

/** A request line and headers, broken, sometimes two requests on one connection. */
export const headCase: MakeCase = (random) => {
  const one = () => mutate(random, Buffer.from(random.one(heads), 'latin1'), 5);
  return random.oneIn(4) ? [one(), one()] : [one()];
};
