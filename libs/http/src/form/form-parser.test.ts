import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundaryOf, createFormParser } from './form-parser.ts';
import { type PartHead, readPartText } from './part-head.ts';

interface ReadPart {
  readonly head: PartHead;
  readonly text: string;
}

/** Reads a body in pieces with so many bytes. */
function read(body: Buffer, pieceBytes = body.length, boundary = 'b'): ReadPart[] {
  const parts: ReadPart[] = [];
  let head: PartHead | undefined;
  let pieces: Buffer[] = [];
  const parser = createFormParser(boundary, {
    begin(next) {
      head = next;
      pieces = [];
    },
    data: (bytes) => pieces.push(bytes),
    end() {
      if (head) parts.push({ head, text: readPartText(Buffer.concat(pieces), head) });
    },
  });
  for (let at = 0; at < body.length; at += pieceBytes) parser.write(body.subarray(at, at + pieceBytes));
  parser.end();
  return parts;
}

const lines = (...all: string[]): Buffer => Buffer.from(all.join('\r\n'));
const named = 'Content-Disposition: form-data; name="a"';
const textOf = (parts: readonly ReadPart[]) => parts.map(({ head, text }) => [head.name, head.filename, text]);

describe('the form parser', () => {
  const whole = lines(
    'a preamble',
    '--b',
    named,
    '',
    'one',
    '--b  ',
    'content-type: application/octet-stream',
    'Content-Disposition: form-data; name="f"; filename="x.txt"',
    '',
    '\r\r\n--',
    '--',
    '--c',
    '--b',
    named,
    '',
    '',
    '--b--',
    'an epilogue',
  );

  it('begins a part with the first bytes behind its head, since an upload may be slow', () => {
    let begun = 0;
    const parser = createFormParser('b', { begin: () => (begun += 1), data: () => {}, end: () => {} });
    parser.write(lines('--b', `${named}; filename="${'x'.repeat(1000)}"`, '', ''));
    parser.write(Buffer.from('ten bytes.'));
    assert.equal(begun, 1);
  });

  it('reads the same parts however the body is cut', () => {
    const expected = [
      ['a', undefined, 'one'],
      ['f', 'x.txt', '\r\r\n--\r\n--\r\n--c'],
      ['a', undefined, ''],
    ];
    for (let pieceBytes = 1; pieceBytes <= whole.length; pieceBytes += 1)
      assert.deepEqual(textOf(read(whole, pieceBytes)), expected, `pieces of ${pieceBytes}`);
  });

  it('reads names and file names as browsers write them', () => {
    const cases: [string, string, string | undefined][] = [
      ['form-data; name=a', 'a', undefined],
      ['form-data; name=""', '', undefined],
      ['FORM-DATA ; NAME = "a;b=c" ; x', 'a;b=c', undefined],
      ['form-data; name="a\\"b\\\\"; filename="C:\\dir\\x.txt"', 'a"b\\', 'x.txt'],
      ['form-data; name="ä€"; filename="../é"', 'ä€', 'é'],
      [`form-data; name="a"; filename="e.txt"; filename*=UTF-8''%e2%82%ac.txt`, 'a', '€.txt'],
      [`form-data; name="a"; filename="e.txt"; filename*=UTF-8''%ff`, 'a', 'e.txt'],
      ['form-data; name="a"; name="b"', 'a', undefined],
    ];
    for (const [disposition, name, filename] of cases) {
      const [part] = read(lines('--b', `Content-Disposition: ${disposition}`, '', '', '--b--'));
      assert.deepEqual([part?.head.name, part?.head.filename], [name, filename], disposition);
    }
  });

  const refusals: [string, Buffer, RegExp][] = [
    ['no disposition', lines('--b', '', 'x', '--b--'), /form part 1 has no Content-Disposition/],
    [
      'another disposition',
      lines('--b', 'Content-Disposition: attachment; name="a"', '', 'x', '--b--'),
      /part 1 .* other than form-data/,
    ],
    [
      'no name',
      lines('--b', named, '', 'x', '--b', 'Content-Disposition: form-data', '', '', '--b--'),
      /form part 2 has no name/,
    ],
    ['a line without a colon', lines('--b', named, 'what', '', 'x', '--b--'), /form part 1 has a header line without/],
    ['a line that begins with a colon', lines('--b', named, ': x', '', 'x', '--b--'), /header line without/],
    ['a bare line break', lines('--b', `${named}\nX: y`, '', 'x', '--b--'), /line break/],
    ['a header twice', lines('--b', named, named, '', 'x', '--b--'), /has a header twice/],
    [
      'a name that is not UTF-8',
      Buffer.concat([
        lines('--b', 'Content-Disposition: form-data; name="'),
        Buffer.from([0xff]),
        lines('"', '', 'x', '--b--'),
      ]),
      /not valid UTF-8/,
    ],
    [
      'a text that is not UTF-8',
      Buffer.concat([lines('--b', named, '', ''), Buffer.from([0xff]), lines('', '--b--')]),
      /the part a is not valid UTF-8/,
    ],
    [
      'an unknown charset',
      lines('--b', named, 'Content-Type: text/plain; charset=x', '', '', '--b--'),
      /the part a is not valid text/,
    ],
    [
      'a long head',
      lines('--b', `X: ${'x'.repeat(82_000)}`, named, '', 'x', '--b--'),
      /form part 1 has headers longer than/,
    ],
    ['a head without an end', lines('--b', `X: ${'x'.repeat(82_000)}`), /form part 1 has headers longer than/],
    [
      'many headers',
      lines('--b', ...Array.from({ length: 51 }, (_, n) => `x${n}: y`), '', 'x', '--b--'),
      /more than 50 headers/,
    ],
    [
      'a long name',
      lines('--b', named.replace('"a"', `"${'ä'.repeat(128)}"`), '', 'x', '--b--'),
      /longer than 255 bytes/,
    ],
    ['a boundary with text behind it', lines('--bc', named, '', 'x', '--b--'), /a boundary with other text behind it/],
    ['a head that ends the part', lines('--b', named, '', '--b--', ''), /form part 1 ends with its headers/],
    ['no end', lines('--b', named, '', 'x', '--b-'), /other text behind it|incomplete/],
    ['no last boundary', lines('--b', named, '', 'x'), /the form is incomplete/],
    ['nothing', Buffer.alloc(0), /the form is incomplete/],
  ];
  for (const [what, body, message] of refusals)
    it(`refuses ${what}, however the body is cut`, () => {
      for (const pieceBytes of [1, 2, 3, 7, body.length || 1])
        assert.throws(() => read(body, pieceBytes), { status: 400, message }, `pieces of ${pieceBytes}`);
    });

  it("reads a content type's boundary", () => {
    assert.equal(boundaryOf('multipart/form-data; charset=utf-8; Boundary="a b"'), 'a b');
    assert.equal(boundaryOf('multipart/form-data; boundary=----x'), '----x');
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'x'.repeat(201)}`,
    ])
      assert.equal(boundaryOf(type), undefined, type);
  });
});
