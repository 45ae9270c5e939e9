import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { envelope } from './envelope.ts';
import { cutMembers, referenceTo } from './envelope-text.ts';

describe("an envelope's members", () => {
  const cases: [text: string, members: Record<string, string>][] = [
    ['{}', {}],
    ['{"a":1}', { a: '1' }],
    [' { "a" : 1.0 , "b":[1,{"c":"}"}] } ', { a: '1.0', b: '[1,{"c":"}"}]' }],
    ['{"data":{"a":"\\"},{\\\\","b":[":"]},"z":null}', { data: '{"a":"\\"},{\\\\","b":[":"]}', z: 'null' }],
    ['{"n":12345678901234567890,"u":"\\u0000","\\u0061":"x"}', { n: '12345678901234567890', u: '"\\u0000"', a: '"x"' }],
    ['{"a":1,"a":{"b":2}}', { a: '{"b":2}' }],
  ];
  for (const [text, members] of cases)
    it(`of ${text}`, () => assert.deepEqual(Object.fromEntries(cutMembers(text)), members));

  it('are refused when nested too deeply', () => {
    assert.throws(() => cutMembers(`{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`), /deep/);
  });
});

describe('the reference to a large event', () => {
  it('is the envelope without its data', () => {
    const id = '0190a1b2-0000-7000-8000-000000000000';
    const text = `{"id":"${id}","event":"a.b","timestamp":1,"data":{"x":1},"actor":{"type":"guest","id":null},"request_id":"r"}`;
    const reference = envelope.parse(JSON.parse(referenceTo(text)));
    assert.equal(reference.data, null);
    assert.deepEqual(reference.reference, { type: 'large_event', id, bytes: text.length });
    assert.equal(reference.request_id, 'r');
  });
});
