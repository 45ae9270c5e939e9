import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sniffContent } from './sniff-content.ts';

type Content = string | Buffer;
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A Matroska element with a size in one byte, or with an unknown size. */
const element = (id: string, data: Buffer, isOpen = false): Buffer =>
  Buffer.concat([hex(id), Buffer.from([isOpen ? 0xff : 0x80 + data.length]), data]);
const track = (type: number): Buffer =>
  element('ae', Buffer.concat([element('d7', hex('01')), element('83', Buffer.from([type]))]));
const recording = (docType: string, ...types: number[]): Buffer =>
  Buffer.concat([
    element('1a45dfa3', Buffer.concat([element('4286', hex('01')), element('4282', Buffer.from(docType))])),
    element(
      '18538067',
      Buffer.concat([
        element('ec', Buffer.alloc(20)),
        element('1549a966', element('2ad7b1', hex('0f4240'))),
        element('1654ae6b', Buffer.concat(types.map(track))),
        element('1f43b675', Buffer.alloc(30)),
      ]),
      true,
    ),
  ]);
const sheet = (name: string): Buffer =>
  Buffer.concat([hex('504b0304'), Buffer.alloc(26), Buffer.from(name), Buffer.alloc(40)]);

const page = '<!DOCTYPE html><html><script>alert(1)</script></html>';
const rss =
  '<?xml version="1.0"?>\n<!-- feed -->\n<rss version="2.0"><channel><title>x</title><p>y</p></channel></rss>';
const atom =
  '<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><content type="html"><a href="x"/></content></feed>';

/** The first type, or all types. */
const samples: readonly (readonly [content: Content, name: string, types: string])[] = [
  ['%PDF-1.7', 'a.txt', 'application/pdf'],
  ['GIF89a', 'a.png', 'image/gif'],
  ['a,b\n1,2\n', 'a.csv', 'text/csv'],
  ['a,b\n<b>x</b>,<script>alert(1)</script>\n', 'a.csv', 'text/csv'],
  ['<b>a</b>,b\n1,2\n', 'a.csv', 'text/csv'],
  [page, 'a.csv', 'text/html'],
  [`\ufeff \n<!-- x -->${page}`, 'a.csv', 'text/html'],
  ['<script>alert(1)</script>,b', 'a.csv', 'text/html'],
  ['BMW,Audi\n1,2\n', 'a.csv', 'text/csv'],
  ['MZ;ID3\n', 'a.txt', 'text/plain'],
  ['{"a":"<script>"}', 'a.json', 'application/json'],
  ['# x\n\n<img src=x> <details><script>1</script></details>', 'a.md', 'text/markdown'],
  ['<div align="center"><h1>x</h1></div>\n\n# x', 'a.md', 'text/markdown'],
  ['<!-- toc -->\n<script>alert(1)</script>\n# x', 'README.MD', 'text/markdown'],
  [page, 'a.md', 'text/html'],
  ['<HTML><body>', 'a.md', 'text/html'],
  ['use <a> and <table>', 'a.txt', 'text/plain'],
  ['<p>piece</p>', 'a.txt', 'text/plain'],
  ['<p>piece</p>', 'a', 'text/html'],
  ['hello <b>x</b> <a href=x>', 'a.html', 'text/html'],
  ['hello', 'a.html', 'text/plain'],
  ['hello', 'a.png', 'text/plain'],
  ['hello', 'a.constructor', 'text/plain'],
  ['hello', 'a.svg', 'text/plain'],
  ['x <script>alert(1)</script>', 'a.png', 'text/plain'],
  [rss, 'feed.xml', 'application/rss+xml,text/xml'],
  [rss, 'feed', 'application/rss+xml,text/xml'],
  [atom, 'feed.atom', 'application/atom+xml,text/xml'],
  ['<?xml version="1.0"?><note><table/><a/><p/></note>', 'a.xml', 'text/xml'],
  ['<note><p>x</p></note>', 'a.xml', 'text/xml'],
  ['<?xml version="1.0"?><gpx/>', 'a.gpx', 'application/gpx+xml,text/xml'],
  ['<?xml version="1.0"?><html xmlns="x"/>', 'a.xml', 'application/xhtml+xml,text/html'],
  ['<?xml version="1.0"?><svg xmlns="x"/>', 'a.csv', 'image/svg+xml'],
  ['<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "y" [<!ENTITY a "b">]><svg/>', 'a.svg', 'image/svg+xml'],
  ['<svg onload=alert(1)>', 'a.txt', 'image/svg+xml'],
  ['body { color: red }', 'a.css', 'text/css,text/plain'],
  ['export const a = "<script>";', 'a.js', 'text/javascript,text/plain'],
  ['BEGIN:VCALENDAR', 'a.ics', 'text/calendar,text/plain'],
  [latin('Größe;Straße\r\n1;Zürich\r\n'), 'a.csv', 'text/csv'],
  [latin('Caf\xe9 \x80 5'), 'a.txt', 'text/plain'],
  [latin('<html>\xe9t\xe9'), 'a.txt', 'text/html'],
  [hex('89a0b1c2d3e4f5a6'), 'a.txt', 'application/octet-stream'],
  [latin('text with \x81'), 'a.txt', 'application/octet-stream'],
  [Buffer.from('\ufeffa;b', 'utf16le'), 'a.csv', 'text/csv'],
  ['\0\u0001\u0002', 'a.txt', 'application/octet-stream'],
  ['', 'a.csv', 'text/csv'],
  [hex('fff15080 2e7ffc 0000'), 'a.aac', 'audio/aac'],
  [hex('fff94c80 000000'), 'a.txt', 'audio/aac'],
  [hex('fffb9064 000000'), 'a.mp3', 'audio/mpeg'],
  [hex('fff38064 000000'), 'a.mp3', 'audio/mpeg'],
  [hex('49443303 000000'), 'a.mp3', 'audio/mpeg'],
  [Buffer.concat([Buffer.from('OggS\0\x02'), Buffer.alloc(22), Buffer.from('\x01vorbis\0')]), 'a.ogg', 'audio/ogg'],
  [Buffer.concat([Buffer.from('OggS\0\x02'), Buffer.alloc(22), latin('\x80theora\0')]), 'a.ogv', 'video/ogg'],
  [recording('webm', 2), 'a.webm', 'audio/webm'],
  [recording('webm', 2, 2), 'a.webm', 'audio/webm'],
  [recording('webm', 1), 'a.webm', 'video/webm'],
  [recording('webm', 2, 1), 'a.webm', 'video/webm'],
  [recording('webm'), 'a.webm', 'video/webm'],
  [recording('webm', 2, 2).subarray(0, 75), 'a.webm', 'video/webm'],
  [recording('matroska', 1, 2), 'a.mkv', 'video/x-matroska'],
  [hex('1a45dfa3'), 'a.webm', 'video/webm'],
  [hex('1a45dfa3 01ffffffffffffff 00'), 'a.webm', 'video/webm'],
  [hex('d0cf11e0a1b11ae1 0000'), 'a.doc', 'application/msword,application/x-cfb'],
  [hex('d0cf11e0a1b11ae1 0000'), 'a.bin', 'application/x-cfb'],
  [sheet('xl/workbook.xml'), 'a.bin', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  [sheet('mimetypeapplication/vnd.oasis.opendocument.textPK'), 'a', 'application/vnd.oasis.opendocument.text'],
  [sheet('a.txt'), 'a.zip', 'application/zip'],
];

describe('what a file is [files §2.2]', () => {
  for (const [content, name, types] of samples)
    it(`${JSON.stringify(content.toString('latin1').slice(0, 40))} called ${name} is ${types}`, () =>
      assert.equal(String(sniffContent(Buffer.from(content as string), name).types), types));
});

const served: readonly (readonly [content: Content, name: string, servedAs: string, mayRun: boolean])[] = [
  ['a,b\n', 'a.csv', 'text/csv; charset=utf-8', false],
  ['a,<script>\n', 'a.csv', 'text/csv; charset=utf-8', true],
  [page, 'a.csv', 'text/html; charset=utf-8', true],
  ['# x', 'a.md', 'text/markdown; charset=utf-8', false],
  ['# x <img src=x>', 'a.md', 'text/markdown; charset=utf-8', true],
  ['{}', 'a.json', 'application/json', false],
  ['alert(1)', 'a.js', 'text/plain; charset=utf-8', false],
  ['b { }', 'a.css', 'text/plain; charset=utf-8', false],
  ['<svg/>', 'a.svg', 'image/svg+xml', true],
  [rss, 'a.xml', 'application/rss+xml', true],
  ['<?xml version="1.0"?><a/>', 'a.xml', 'text/xml; charset=utf-8', true],
  ['<?xml version="1.0"?><html/>', 'a.xml', 'application/xhtml+xml', true],
  [latin('Größe;1'), 'a.csv', 'text/csv; charset=windows-1252', false],
  [hex('fff15080 2e7ffc 0000'), 'a.aac', 'audio/aac', false],
  ['\0', 'a.html', 'application/octet-stream', false],
];

describe('how a file is served [files §4.5]', () => {
  for (const [content, name, servedAs, mayRun] of served)
    it(`${JSON.stringify(content.toString('latin1').slice(0, 40))} called ${name} is ${servedAs}`, () => {
      const { types, ...rest } = sniffContent(Buffer.from(content as string), name);
      assert.deepEqual(rest, { servedAs, mayRun });
    });
});

it('any bytes have a type, soon', () => {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  const starts = [hex('1a45dfa3'), latin('<!doctype'), latin('<!--'), latin('<?xml'), latin('PK\x03\x04'), hex('fffe')];
  for (let round = 0; round < 500; round += 1) {
    const start = starts[round % starts.length] ?? Buffer.alloc(0);
    const bytes = Buffer.from(Array.from({ length: random() % 400 }, () => random() % 256));
    assert.notEqual(sniffContent(Buffer.concat([start, bytes]), 'a.csv').types[0], '');
  }
  for (const piece of ['<!--x-->', '<?', '<!doctype a[', '<!doctype ', '<a ', ' ', '\x1aE\xdf\xa3'])
    assert.notEqual(sniffContent(latin(piece.repeat(5000)), 'a').types[0], '');
});
